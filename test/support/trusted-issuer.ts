import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'

/** A key of another issuer than the provider. */
export interface IssuerKey {
  readonly jwk: { readonly kty: string; readonly kid?: string; readonly [member: string]: unknown }
  /** Signs a JWT. A claim that is `undefined` is omitted. */
  sign(claims: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>
}

export async function createIssuerKey(kid: string | undefined = undefined, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const named = kid === undefined ? {} : { kid }
  return {
    jwk: { ...((await exportJWK(publicKey)) as { kty: string }), ...named },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...named, ...header }).sign(privateKey),
  }
}
