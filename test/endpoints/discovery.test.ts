import { defineClientSource, defineFields, definePlugin, type EndpointName } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, clients, type Fixture, fixture, scopes, spaClientId } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const openid = 'https://id.example.com/.well-known/openid-configuration'
const oauth = 'https://id.example.com/.well-known/oauth-authorization-server'

const fetchJson = async (f: Fixture, url: string) => {
  const response = await f.provider.fetch(new Request(url))
  return { status: response.status, headers: response.headers, body: response.ok ? await response.json() : undefined }
}

describe('the document', () => {
  test('9.1 OpenID Connect Discovery lists the endpoints and features', async () => {
    const f = await fixture({ authorizationEndpoint: 'https://login.example.com/authorize' })
    const { status, headers, body } = await fetchJson(f, openid)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toEqual({
      issuer: 'https://id.example.com',
      authorization_endpoint: 'https://login.example.com/authorize',
      token_endpoint: 'https://id.example.com/connect/token',
      userinfo_endpoint: 'https://id.example.com/connect/userinfo',
      jwks_uri: 'https://id.example.com/.well-known/jwks',
      introspection_endpoint: 'https://id.example.com/connect/introspect',
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint: 'https://id.example.com/connect/revocation',
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      identity_token_validation_endpoint: 'https://id.example.com/connect/identitytokenvalidation',
      access_token_validation_endpoint: 'https://id.example.com/connect/accesstokenvalidation',
      grant_types_supported: ['client_credentials', 'password', 'authorization_code', 'refresh_token'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'profile', 'email', 'address', 'phone', 'roles', 'offline_access', 'api1', 'api2'],
      claims_supported: expect.arrayContaining(['sub', 'name', 'email', 'address', 'phone_number', 'role']),
    })
    expect(body).toEqual(f.provider.metadata)
  })

  test('9.2 RFC 8414: the same document at its own path', async () => {
    const f = await fixture()
    const { status, body } = await fetchJson(f, oauth)
    expect(status).toBe(200)
    expect(body).toEqual((await fetchJson(f, openid)).body)
  })

  test('9.2 an issuer with a path: RFC 8414 puts the well-known part in front of the path, OpenID Connect behind it', async () => {
    const f = await fixture({ issuer: 'https://id.example.com/tenants/a' })
    const before = 'https://id.example.com/.well-known/oauth-authorization-server/tenants/a'
    const behind = 'https://id.example.com/tenants/a/.well-known/openid-configuration'
    for (const url of [before, behind]) {
      const { status, body } = await fetchJson(f, url)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        issuer: 'https://id.example.com/tenants/a',
        token_endpoint: 'https://id.example.com/tenants/a/connect/token',
        jwks_uri: 'https://id.example.com/tenants/a/.well-known/jwks',
      })
    }
    for (const url of [oauth, openid, `${behind}/`, `https://id.example.com/tenants/a${new URL(oauth).pathname}`]) {
      expect((await fetchJson(f, url)).status).toBe(404)
    }
  })

  test('9.1 ignores the host of the request: the issuer comes from the configuration', async () => {
    const f = await fixture()
    const url = 'http://evil.example.com/.well-known/openid-configuration'
    const headers = { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com', forwarded: 'host=evil.example' }
    const response = await f.provider.fetch(new Request(url, { headers }))
    expect(await response.text()).not.toContain('evil')
  })

  test.each([openid, oauth])('9.1 %s is cacheable, responds to HEAD, and rejects POST', async (url) => {
    const f = await fixture()
    const { headers } = await fetchJson(f, url)
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(headers.has('pragma')).toBe(false)
    const head = await f.provider.fetch(new Request(url, { method: 'HEAD' }))
    expect([head.status, await head.text(), head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
    const post = await f.provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }))
    expect(post.status).toBe(405)
    expect(post.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS'])
    expect(post.headers.get('cache-control')).toBe('no-store')
  })
})

describe('built from the registered plugins', () => {
  test('9.3 lists a grant type when its plugin is registered, and only then', async () => {
    const badge = testGrant({
      grantType: 'urn:example:badge',
      handle: ({ scopes: s }) => ({ scopes: s }),
    })
    const f = await fixture({ plugins: [clientCredentials(), badge], clients: [] })
    const { body } = await fetchJson(f, openid)
    expect(body.grant_types_supported).toEqual(['client_credentials', 'urn:example:badge'])
    expect(body.response_types_supported).toEqual([])
    expect(body).not.toHaveProperty('response_modes_supported')
    expect(body).not.toHaveProperty('code_challenge_methods_supported')
    expect(body).not.toHaveProperty('authorization_endpoint')
  })

  test('9.3 includes the metadata of a plugin', async () => {
    const f = await fixture()
    expect((await fetchJson(f, openid)).body.code_challenge_methods_supported).toEqual(['S256'])
  })

  test('9.3 merges the lists of plugins with those of the core and of each other, without duplicates', async () => {
    const announce = (name: string, metadata: Record<string, string[]>) =>
      definePlugin(name, [defineFields({ metadata })])
    const f = await fixture({
      plugins: [
        ...builtInPlugins,
        announce('form-post', { response_modes_supported: ['query', 'form_post'] }),
        announce('assertion', {
          token_endpoint_auth_methods_supported: ['private_key_jwt'],
          token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256'],
        }),
        announce('other', {
          token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256'],
          code_challenge_methods_supported: ['plain'],
        }),
      ],
    })
    expect((await fetchJson(f, openid)).body).toMatchObject({
      response_modes_supported: ['query', 'form_post'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256'],
      code_challenge_methods_supported: ['S256', 'plain'],
    })
  })

  test('9.3 rejects two plugins that define the same metadata at start', async () => {
    const [, , , proofKey] = builtInPlugins
    await expect(fixture({ plugins: [...builtInPlugins, proofKey] })).rejects.toThrow(/two plugins/u)
  })

  test.each([
    ['userinfo', 'userinfo_endpoint'],
    ['introspection', 'introspection_endpoint'],
    ['revocation', 'revocation_endpoint'],
    ['identityTokenValidation', 'identity_token_validation_endpoint'],
    ['accessTokenValidation', 'access_token_validation_endpoint'],
    ['token', 'token_endpoint'],
    ['jwks', 'jwks_uri'],
  ] as readonly (readonly [EndpointName, string])[])(
    '9.3 omits a disabled endpoint and lists a moved one at its path: %s (%s)',
    async (name, member) => {
      const off = await fixture({ endpoints: { [name]: false } })
      expect((await fetchJson(off, openid)).body).not.toHaveProperty(member)
      const moved = await fixture({ endpoints: { [name]: '/elsewhere' } })
      expect((await fetchJson(moved, openid)).body[member]).toBe('https://id.example.com/elsewhere')
    },
  )

  test.each([
    ['discovery', openid],
    ['authorizationServerMetadata', oauth],
  ] as const)('9.3 %s itself can be disabled', async (name, url) => {
    const f = await fixture({ endpoints: { [name]: false } })
    expect((await fetchJson(f, url)).status).toBe(404)
    expect((await f.get(name)).status).toBe(404)
    expect((await fetchJson(f, url === openid ? oauth : openid)).status).toBe(200)
  })

  test('9.3 lists none as an authentication method only if there can be a public client', async () => {
    const confidential = clients.filter(({ clientId }) => clientId !== spaClientId)
    const f = await fixture({ clients: confidential })
    const methods = (await fetchJson(f, openid)).body.token_endpoint_auth_methods_supported
    expect(methods).toEqual(['client_secret_basic', 'client_secret_post'])
    const registration = definePlugin('registration', [defineClientSource({ find: () => undefined })])
    const withSource = await fixture({ clients: confidential, plugins: [...builtInPlugins, registration] })
    const { body } = await fetchJson(withSource, openid)
    expect(body.token_endpoint_auth_methods_supported).toEqual([...methods, 'none'])
  })

  test('9.3 lists the enabled scopes and claims, including custom ones', async () => {
    const more = [
      { name: 'badge', identity: true, claims: ['badge_id'] },
      { name: 'phone', identity: true, enabled: false, claims: ['phone_number'] },
      { name: 'api3', enabled: false },
      { name: 'api4', claims: ['department'] },
    ]
    const { body } = await fetchJson(await fixture({ scopes: [...scopes, ...more] }), openid)
    expect(body.scopes_supported).toEqual(expect.arrayContaining(['badge', 'api1', 'api4', 'email']))
    expect(body.scopes_supported).not.toEqual(expect.arrayContaining(['phone']))
    expect(body.scopes_supported).not.toEqual(expect.arrayContaining(['api3']))
    expect(body.claims_supported).toContain('badge_id')
    expect(body.claims_supported).not.toContain('phone_number')
    expect(new Set(body.claims_supported).size).toBe(body.claims_supported.length)
  })

  test('9.3 lists the signing algorithms of the keys', async () => {
    const jwkOf = async (alg: string) => exportJWK((await generateKeyPair(alg, { extractable: true })).privateKey)
    const keys = [await jwkOf('ES256'), { ...(await jwkOf('PS256')), alg: 'PS256' }, await jwkOf('EdDSA')]
    const { body } = await fetchJson(await fixture({ keys }), openid)
    expect(body.id_token_signing_alg_values_supported).toEqual(['ES256', 'PS256', 'EdDSA'])
  })
})
