import type { ClientCertificate, ClientOptions, ProviderOptions } from '@grantry/core'
import { type MtlsOptions, mtls } from '@grantry/plugins/mtls'
import { basic, type Credentials, read, sha256Of } from '@grantry/testing'
import { builtInPlugins, type Fixture, fixture, scopes } from '../support/fixture.ts'
import type { Issued } from './certificates.ts'

export const issuer = 'https://id.example.com'
export const tokenUrl = `${issuer}/connect/token`
export const userinfoUrl = `${issuer}/connect/userinfo`

const common = {
  clientId: 'machine',
  grantTypes: ['client_credentials', 'password', 'refresh_token'],
  scopes: ['openid', 'profile', 'offline_access', 'api1'],
}

/** A client of the tests. By default, it has the client id `machine`. */
export const clientWith = (more: Partial<ClientOptions>): ClientOptions => ({ ...common, ...more })

export const secretOf = (id: string): Credentials => [id, `${id}-secret`]
export const secretClient = (more: Partial<ClientOptions> = {}): ClientOptions =>
  clientWith({ secrets: [{ sha256: sha256Of('machine-secret') }], ...more })

export const selfSigned = (...keys: readonly object[]): Partial<ClientOptions> => ({
  tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
  jwks: { keys: keys as never },
})

export const start = (
  clients: readonly ClientOptions[],
  options: MtlsOptions = {},
  more: Partial<ProviderOptions> = {},
): Promise<Fixture> => fixture({ plugins: [builtInPlugins, mtls(options)], clients, scopes, ...more })

/** The certificate as an adapter passes it. */
export const presented = ({ der }: Issued, verified = true): ClientCertificate => ({ der, verified })

const reasonIn = ({ events }: Fixture): string | undefined => {
  const last = events.at(-1)
  return last?.type === 'endpoint_failed' ? last.reason : undefined
}

export const machineTokens = { grant_type: 'client_credentials', scope: 'api1' }
export const login = {
  grant_type: 'password',
  username: 'alice',
  password: 'alice-password',
  scope: 'openid profile offline_access api1',
}

/** Requests tokens on a connection with a certificate, or without one. */
export async function request(
  f: Fixture,
  clientCertificate: ClientCertificate | undefined,
  form: Readonly<Record<string, string>> = machineTokens,
  as?: Credentials,
) {
  const headers = as === undefined ? {} : { authorization: basic(as) }
  const body = new URLSearchParams({ ...(as === undefined && { client_id: 'machine' }), ...form })
  const sent = new Request(tokenUrl, { method: 'POST', headers, body })
  const response = await read(await f.provider.fetch(sent, { clientCertificate }))
  return { ...response, reason: reasonIn(f) }
}

/** Calls the userinfo endpoint on a connection with a certificate, or without one. */
export async function use(f: Fixture, token: string, clientCertificate: ClientCertificate | undefined) {
  const sent = new Request(userinfoUrl, { headers: { authorization: `Bearer ${token}` } })
  const response = await read(await f.provider.fetch(sent, { clientCertificate }))
  return { ...response, reason: reasonIn(f) }
}
