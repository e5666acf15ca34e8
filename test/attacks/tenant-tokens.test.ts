/**
 * Attack: an attacker presents at one tenant the credentials that another one has issued or accepts for a machine:
 * registration access tokens, initial access tokens, client assertions, DPoP nonces, and tokens of an administrator.
 * Both tenants have the same clients, keys of clients and administrators.
 *
 * RFC 7523 section 3, RFC 7592 section 2, RFC 9449 section 8; decision 168.
 */
import { openAdministration } from '@grantry/administration'
import { type AdminHost, admin } from '@grantry/administration/api'
import { openEntries } from '@grantry/core'
import { tenantsByHost } from '@grantry/core/tenants'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { dpop } from '@grantry/plugins/dpop'
import { registration, registrations } from '@grantry/plugins/registration'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { assertionType, key, sign } from '../client-assertion/assertions.ts'
import { holder } from '../dpop/parties.ts'
import { builtInPlugins } from '../support/fixture.ts'
import { base, client, tenantsFixture } from '../tenants/tenants-fixture.ts'

const now = () => Math.floor(Date.now() / 1000)
const credentials = { grant_type: 'client_credentials', scope: 'api1' }

/** What the operations of these tests use of the server. */
const hostAt = (issuer: string): AdminHost =>
  ({
    administration: openAdministration({
      entries: openEntries({ issuer, storage: memoryDriver() }),
      check: { client: async () => {}, scope: async () => {}, user: async () => {}, tenant: async () => {} },
      hashPassword: async () => '',
      revoke: async () => {},
    }),
    hasTenants: true,
  }) as unknown as AdminHost

function setting(by: 'path' | 'host', nonce = false) {
  const names = by === 'path' ? ['acme', 'beta'] : ['id.acme.example', 'id.beta.example']
  const issuerOf = (name: string): string => (by === 'path' ? `${base}/t/${name}` : `https://${name}`)
  const service = {
    clientId: 'service',
    jwks: { keys: [key.jwk] },
    grantTypes: ['client_credentials'],
    scopes: ['api1'],
  }
  const tenants = tenantsFixture({
    tenants: names,
    issuerOf,
    ...(by === 'host' && { tenantOf: tenantsByHost() }),
    options: { clients: [{ ...client, scopes: ['api1', 'admin'] }, service] },
    pluginsOf: (name) => [
      builtInPlugins,
      clientAssertion(),
      dpop({ nonce }),
      registration({ scopes: ['api1'] }),
      admin({ clients: ['web'], host: () => hostAt(issuerOf(name)) }),
    ],
  })
  const [ownTenant = '', otherTenant = ''] = names
  const send = async (url: string, token: string, method = 'GET', body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await tenants.fetch(new Request(url, init))
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  return { tenants, ownTenant, ownIssuer: issuerOf(ownTenant), otherIssuer: issuerOf(otherTenant), send }
}

const metadata = { redirect_uris: ['https://app.example.com/callback'], token_endpoint_auth_method: 'none' }

describe.each(['path', 'host'] as const)('tenants by %s', (by) => {
  test('21.83 an initial access token registers clients at its own tenant only', async () => {
    const { tenants, ownTenant, send, ownIssuer, otherIssuer } = setting(by)
    const issued = await tenants.use(ownTenant, (provider) =>
      provider.use(registrations).issueToken({ budget: 1, lifetime: 3600 }),
    )
    const token = issued?.token ?? ''
    const register = (issuer: string) => send(`${issuer}/connect/register`, token, 'POST', metadata)
    expect((await register(otherIssuer)).status).toBe(401)
    // Its budget is not spent there.
    expect((await register(ownIssuer)).status).toBe(201)
  })

  test('21.83 a registration access token reads, changes and removes no client of another tenant', async () => {
    const { tenants, ownTenant, send, ownIssuer, otherIssuer } = setting(by)
    const issued = await tenants.use(ownTenant, (provider) =>
      provider.use(registrations).issueToken({ budget: 1, lifetime: 3600 }),
    )
    const token = issued?.token ?? ''
    const { body } = await send(`${ownIssuer}/connect/register`, token, 'POST', metadata)
    const { registration_client_uri: url, registration_access_token: access } = body
    expect(url.startsWith(`${ownIssuer}/`)).toBe(true)
    for (const method of ['GET', 'DELETE']) {
      expect((await send(url.replace(ownIssuer, otherIssuer), access, method)).status, method).toBe(401)
    }
    expect((await send(url, access)).status).toBe(200)
  })

  test('21.83 the assertion of a client is for one tenant, also if the client has the same key at both', async () => {
    const { tenants, ownIssuer, otherIssuer } = setting(by)
    const present = async (issuer: string, assertion: string) => {
      const form = { ...credentials, client_assertion_type: assertionType, client_assertion: assertion }
      const request = new Request(`${issuer}/connect/token`, { method: 'POST', body: new URLSearchParams(form) })
      return (await tenants.fetch(request)).status
    }
    const claims = { iss: 'service', sub: 'service', jti: 'the same', iat: now(), exp: now() + 60 }
    const [forOwn, forOther] = await Promise.all([ownIssuer, otherIssuer].map((aud) => sign({ ...claims, aud })))
    expect(await present(otherIssuer, forOwn ?? '')).toBe(401)
    expect(await present(ownIssuer, forOwn ?? '')).toBe(200)
    // The attacker cannot use up the assertions that a client sends to another tenant.
    expect(await present(otherIssuer, forOther ?? '')).toBe(200)
  })

  test('21.83 a nonce for proofs of a tenant is unknown at another one', async () => {
    const { tenants, ownIssuer, otherIssuer } = setting(by, true)
    const proving = await holder('ES256', now)
    const at = async (issuer: string, nonce?: string) => {
      const url = `${issuer}/connect/token`
      const proof = await proving.prove({ htu: url, ...(nonce !== undefined && { nonce }) })
      const response = await tenants.token(url, credentials, { dpop: proof })
      const { error } = (await response.json()) as { readonly error?: string }
      return { status: response.status, error, nonce: response.headers.get('dpop-nonce') ?? '' }
    }
    const { nonce, error } = await at(ownIssuer)
    expect(error).toBe('use_dpop_nonce')
    expect(await at(otherIssuer, nonce)).toMatchObject({ status: 400, error: 'use_dpop_nonce' })
    expect((await at(ownIssuer, nonce)).status).toBe(200)
  })

  test('21.83 a token of an administrator of a tenant administrates no other one', async () => {
    const { tenants, send, ownIssuer, otherIssuer } = setting(by)
    const form = { ...credentials, scope: 'admin' }
    const { access_token: token } = await (await tenants.token(`${ownIssuer}/connect/token`, form)).json()
    expect((await send(`${ownIssuer}/admin/v1/clients`, token)).status).toBe(200)
    for (const path of ['', '/clients', '/users', '/audit', '/tenants', '/openapi.json']) {
      expect((await send(`${otherIssuer}/admin/v1${path}`, token)).status, path).toBe(401)
    }
    const added = { clientId: 'evil', grantTypes: ['client_credentials'], scopes: ['admin'] }
    expect((await send(`${otherIssuer}/admin/v1/clients`, token, 'POST', added)).status).toBe(401)
  })
})
