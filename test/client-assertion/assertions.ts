import type { ClientOptions, ProviderOptions } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, read, type TestProvider } from '@grantry/testing'
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'

export const issuer = 'https://id.example.com'
export const tokenEndpoint = `${issuer}/connect/token`
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** The clock of a test provider. */
export const now = 1_800_000_000

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']

export interface ClientKey {
  readonly privateKey: PrivateKey
  readonly jwk: { readonly kty: string; readonly kid?: string; readonly [name: string]: unknown }
}

export async function createKey(alg = 'ES256', members: object = {}): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, jwk: { ...((await exportJWK(publicKey)) as { kty: string }), ...members } }
}

export const key = await createKey()
export const otherKey = await createKey()

const common = { grantTypes: ['client_credentials'], scopes: ['api1'] }
export const client = (more: Partial<ClientOptions> = {}): ClientOptions => ({
  clientId: 'service',
  jwks: { keys: [key.jwk] },
  ...common,
  ...more,
})
export const otherClient = client({ clientId: 'other', jwks: { keys: [otherKey.jwk] } })

type Options = NonNullable<Parameters<typeof clientAssertion>[0]>

export const setUp = (
  settings: Options = {},
  clients: ProviderOptions['clients'] = [client(), otherClient],
  more: Partial<ProviderOptions> = {},
): Promise<TestProvider> =>
  createTestProvider({
    plugins: [clientCredentials(), clientAssertion(settings)],
    clients,
    scopes: [{ name: 'api1' }],
    ...more,
  })

let count = 0

/** The claims that the suite of the OpenID Foundation sends: `aud` is one string, and there is no `typ`. */
export const claims = (clientId = 'service'): Record<string, unknown> => {
  count += 1
  return { iss: clientId, sub: clientId, aud: issuer, jti: `jti-${count}`, iat: now, nbf: now, exp: now + 60 }
}

export const sign = (
  payload: Record<string, unknown>,
  by: PrivateKey | Uint8Array = key.privateKey,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> => new SignJWT(payload).setProtectedHeader({ alg: 'ES256', ...header }).sign(by)

export async function present(f: TestProvider, assertion: string, form: Record<string, string> = {}) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api1',
    client_assertion_type: assertionType,
    client_assertion: assertion,
    ...form,
  })
  return read(await f.provider.handlers.token(new Request(tokenEndpoint, { method: 'POST', body })))
}

export const lastReason = (f: TestProvider): string | undefined =>
  f.events.flatMap((event) => (event.type === 'client_authentication_failed' ? [event.reason] : [])).at(-1)

const prefix = 'plugin:client-assertion:'

/** The status, and the reason without its prefix. */
export async function outcomeOf(f: TestProvider, assertion: string, form: Record<string, string> = {}) {
  const { status } = await present(f, assertion, form)
  const reason = status === 200 ? undefined : lastReason(f)
  return [status, reason?.startsWith(prefix) ? reason.slice(prefix.length) : reason]
}
