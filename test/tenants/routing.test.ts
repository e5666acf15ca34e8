import { tenantsByHost, tenantsByPath } from '@grantry/core/tenants'
import { describe, expect, test } from 'vitest'
import { base, tenantsFixture } from './tenants-fixture.ts'

const get = (url: string, headers: Record<string, string> = {}) => new Request(url, { headers })
const credentials = { grant_type: 'client_credentials', scope: 'api1' }

describe('tenants by path', () => {
  test.each([['/t/acme/.well-known/openid-configuration'], ['/.well-known/oauth-authorization-server/t/acme']])(
    'each has its documents: %s',
    async (path) => {
      const tenants = tenantsFixture()
      const response = await tenants.fetch(get(`${base}${path}`))
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({
        issuer: `${base}/t/acme`,
        token_endpoint: `${base}/t/acme/connect/token`,
      })
    },
  )

  test('each issues tokens with its keys and its issuer', async () => {
    const tenants = tenantsFixture()
    const keys = await Promise.all(
      ['acme', 'beta'].map(async (name) => {
        expect((await tenants.token(`${base}/t/${name}/connect/token`, credentials)).status).toBe(200)
        const { jwks_uri } = (await (
          await tenants.fetch(get(`${base}/t/${name}/.well-known/openid-configuration`))
        ).json()) as { jwks_uri: string }
        return ((await (await tenants.fetch(get(jwks_uri))).json()) as { keys: { kid: string }[] }).keys[0]?.kid
      }),
    )
    expect(new Set(keys).size).toBe(2)
  })

  test.each([
    ['/t/none/connect/token'],
    ['/t/ACME/connect/token'],
    ['/t//acme/connect/token'],
    ['//t/acme/connect/token'],
    ['/t/%61cme/connect/token'],
    ['/t/acme%2fconnect/token'],
    ['/t/acme;x/connect/token'],
    [`/t/${'a'.repeat(64)}/connect/token`],
    ['/.well-known/oauth-authorization-server/t/acme/x'],
    ['/connect/token'],
    ['/t'],
    ['/'],
  ])('21.80 no tenant handles %s', async (path) => {
    const tenants = tenantsFixture()
    // Not `new Request()`, which would resolve some of them.
    const request = new Proxy(new Request(base), {
      get: (target, name) => (name === 'url' ? base + path : Reflect.get(target, name)),
    })
    const response = await tenants.fetch(request)
    expect(response.status).toBe(404)
    expect(tenants.size).toBe(0)
  })

  test('the prefix can be another path', () => {
    const { of } = tenantsByPath({ prefix: '/realms' })
    expect(of(get(`${base}/realms/acme/connect/token`))).toBe('acme')
    expect(of(get(`${base}/t/acme/connect/token`))).toBeUndefined()
    expect(() => tenantsByPath({ prefix: 'realms' })).toThrow('write a path such as /t')
  })

  test('requests to no tenant reach another handler', async () => {
    const { of } = tenantsByPath()
    expect(of(get(`${base}/`))).toBeUndefined()
  })
})

describe('tenants by host', () => {
  const { of } = tenantsByHost()

  test.each([
    ['id.acme.example', 'id.acme.example'],
    ['ID.Acme.Example', 'id.acme.example'],
    ['id.acme.example:8443', 'id.acme.example'],
    ['[::1]:80', '[::1]'],
    ['id.acme.example.', undefined],
    ['user@id.acme.example', undefined],
    ['id.acme.example/x', undefined],
    ['id..example', undefined],
    ['id.acme.example:', undefined],
    ['id.acme.example,id.beta.example', undefined],
    ['', undefined],
    [`${'a'.repeat(300)}.example`, undefined],
  ])('the header Host %j names %j', (host, key) => {
    const headers = { get: (name: string) => (name === 'host' ? host : null) }
    expect(of({ url: 'https://other.example/', headers } as unknown as Request)).toBe(key)
  })

  test('21.81 X-Forwarded-Host names no tenant', async () => {
    expect(of(get('https://id.acme.example/', { 'x-forwarded-host': 'id.beta.example' }))).toBe('id.acme.example')
  })

  test('each issues tokens with its issuer', async () => {
    const tenants = tenantsFixture({
      tenants: ['id.acme.example', 'id.beta.example'],
      tenantOf: tenantsByHost(),
      issuerOf: (host) => `https://${host}`,
    })
    const response = await tenants.fetch(get('https://id.beta.example/.well-known/openid-configuration'))
    expect(await response.json()).toMatchObject({ issuer: 'https://id.beta.example' })
    expect((await tenants.fetch(get('https://id.none.example/'))).status).toBe(404)
  })
})

describe('a tenant that requests would not reach', () => {
  test('is refused with the cause in an event', async () => {
    const tenants = tenantsFixture({ issuerOf: () => `${base}/t/other` })
    const response = await tenants.token(`${base}/t/acme/connect/token`, credentials)
    expect(response.status).toBe(503)
    expect(tenants.tenantEvents).toMatchObject([{ type: 'tenant_failed', tenant: 'acme' }])
    expect(String(tenants.tenantEvents[0]?.cause)).toContain('the path of its issuer must be /t/acme')
  })

  test('has no issuer of another tenant', async () => {
    const tenantOf = { of: (request: Request) => new URL(request.url).pathname.split('/')[2] }
    const tenants = tenantsFixture({ tenantOf, issuerOf: () => `${base}/t/acme` })
    expect((await tenants.token(`${base}/t/acme/connect/token`, credentials)).status).toBe(200)
    expect((await tenants.token(`${base}/t/beta/connect/token`, credentials)).status).toBe(503)
  })
})
