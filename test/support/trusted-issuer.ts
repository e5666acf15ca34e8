import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'
import { publicPartOf } from './keys.ts'

/** A key of another issuer than the provider. */
export interface IssuerKey {
  readonly jwk: { readonly kty: string; readonly kid?: string; readonly [member: string]: unknown }
  /** Signs a JWT. A claim that is `undefined` is omitted. */
  sign(claims: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>
}

async function newKey(alg: string): Promise<JWK> {
  return exportJWK((await generateKeyPair(alg, { extractable: true })).privateKey)
}

/** @param fixed a private key instead of a new one: generating an RSA key takes longer than most tests */
export async function createIssuerKey(
  kid: string | undefined = undefined,
  alg = 'ES256',
  fixed?: JWK,
): Promise<IssuerKey> {
  const key = fixed ?? (await newKey(alg))
  const privateKey = await importJWK(key, alg)
  const named = kid === undefined ? {} : { kid }
  return {
    jwk: { ...(publicPartOf(key) as { kty: string }), ...named },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...named, ...header }).sign(privateKey),
  }
}
