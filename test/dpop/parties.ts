import type { ProviderOptions } from '@grantry/core'
import { type DpopOptions, dpop } from '@grantry/plugins/dpop'
import { basic, type Credentials, read } from '@grantry/testing'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { builtInPlugins, type Fixture, fixture, spaClientId, web } from '../support/fixture.ts'

export const issuer = 'https://id.example.com'
export const tokenUrl = `${issuer}/connect/token`
export const userinfoUrl = `${issuer}/connect/userinfo`

export const start = (options: DpopOptions = {}, more: Partial<ProviderOptions> = {}): Promise<Fixture> =>
  fixture({ plugins: [builtInPlugins, dpop(options)], ...more })

/** A client's key and the proofs that it signs. */
export interface Holder {
  readonly jwk: JWK
  readonly privateJwk: JWK
  readonly thumbprint: string
  /** Signs a proof for the token endpoint. A claim or a header parameter that is `undefined` is omitted. */
  prove(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>
}

const hashOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url')

export async function holder(alg = 'ES256', now = (): number => 1_800_000_000): Promise<Holder> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const [jwk, privateJwk] = [await exportJWK(publicKey), await exportJWK(privateKey)]
  return {
    jwk,
    privateJwk,
    thumbprint: await calculateJwkThumbprint(jwk),
    prove: (claims = {}, header = {}) =>
      new SignJWT({ jti: crypto.randomUUID(), htm: 'POST', htu: tokenUrl, iat: now(), ...claims })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey),
  }
}

/** Signs a proof for the userinfo endpoint. */
export const proveUse = async ({ prove }: Holder, token: string, claims: Readonly<Record<string, unknown>> = {}) =>
  prove({ htm: 'GET', htu: userinfoUrl, ath: await hashOf(token), ...claims })

export const password = {
  grant_type: 'password',
  username: 'alice',
  password: 'alice-password',
  scope: 'openid profile offline_access api1',
}
export const refreshOf = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token })

/** Requests tokens with a proof, or without one. */
export async function request(
  { provider, events }: Fixture,
  proof: string | undefined,
  form: Readonly<Record<string, string>> = password,
  as: Credentials | undefined = form.client_id === spaClientId || 'client_assertion' in form ? undefined : web,
) {
  const headers = { ...(as && { authorization: basic(as) }), ...(proof !== undefined && { dpop: proof }) }
  const body = new URLSearchParams(form)
  const response = await read(await provider.fetch(new Request(tokenUrl, { method: 'POST', headers, body })))
  const last = events.at(-1)
  return { ...response, reason: last?.type === 'endpoint_failed' ? last.reason : undefined }
}

/** Calls the userinfo endpoint with a proof, or without one. */
export async function use({ provider, events }: Fixture, token: string, proof: string | undefined, scheme = 'DPoP') {
  const headers = { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) }
  const response = await read(await provider.fetch(new Request(userinfoUrl, { headers })))
  const last = events.at(-1)
  return { ...response, reason: last?.type === 'endpoint_failed' ? last.reason : undefined }
}
