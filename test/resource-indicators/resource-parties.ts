import type { ProviderOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { basic, createTestProvider, type NewGrant, read, sha256Of, storeGrant, testClient } from '@grantry/testing'

// The APIs, scopes and client of the examples in RFC 8707 section 2.
export const cal = 'https://cal.example.com/'
export const contacts = 'https://contacts.example.com/'
export const redirectUri = 'https://client.example.org/cb'
export const [clientId, secret] = testClient
export const issuer = 'https://authorization-server.example.com'

/** A provider with the APIs and the client of the examples, and every grant type that accepts `resource`. */
export async function setUp(more: Partial<ProviderOptions> = {}) {
  const f = await createTestProvider({
    issuer,
    plugins: [authorizationCode(), clientCredentials(), password(), refreshToken(), resourceIndicators()],
    scopes: [{ name: 'calendar', audience: cal }, { name: 'contacts', audience: contacts }, { name: 'unbound' }],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'client_credentials', 'password', 'refresh_token'],
        scopes: ['calendar', 'contacts', 'unbound', 'offline_access'],
        redirectUris: [redirectUri],
      },
    ],
    users: { isActive: () => true, authenticate: ({ username }) => ({ sub: username }) },
    ...more,
  })

  /** Posts a form as it is on the wire, where `resource` can repeat. */
  async function post(form: string) {
    const headers = { authorization: basic(testClient), 'content-type': 'application/x-www-form-urlencoded' }
    const request = new Request(`${issuer}/connect/token`, { method: 'POST', headers, body: form })
    const response = await read(await f.provider.handlers.token(request))
    const failure = f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : [])).at(-1)
    return { ...response, failure }
  }

  const wire = (resources: readonly string[]): string =>
    resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
  const authorize = (resource?: string, more: Partial<NewGrant> = {}) =>
    storeGrant(f.provider, {
      kind: 'code',
      clientId,
      redirectUri,
      subject: { sub: '__b_c', amr: ['pwd'] },
      scopes: ['calendar', 'contacts', 'offline_access'],
      ...(resource !== undefined && { params: { resource } }),
      ...more,
    })
  return {
    ...f,
    authorize,
    post,
    clientToken: (scope: string, ...resources: string[]) =>
      post(`grant_type=client_credentials&scope=${encodeURIComponent(scope)}${wire(resources)}`),
    redeem: (code: string, ...resources: string[]) =>
      post(
        `grant_type=authorization_code&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb&code=${code}${wire(resources)}`,
      ),
    refresh: (token: string, ...resources: string[]) =>
      post(`grant_type=refresh_token&refresh_token=${token}${wire(resources)}`),
  }
}
