import type { Json, ScopeOptions, UserService } from '@grantry/core'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { formats } from '../support/access-token.ts'
import {
  api1,
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  redirectUri,
  scopes,
  web,
  webJwt,
} from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const extra: Record<string, Json> = {
  role: ['admin', 'editor'],
  department: 'R&D',
  level: 3,
  remote: false,
  place: { city: 'Ulm' },
  nothing: null,
  unasked: 'x',
}

const asking = (claims: readonly string[]): readonly ScopeOptions[] =>
  scopes.map((scope) => (scope.name === 'api1' ? { ...scope, claims: [...claims] } : scope))

function withClaims(claims: readonly string[], users: Partial<UserService> = {}): Promise<Fixture> {
  return fixture({
    scopes: asking(claims),
    users: { authenticate: () => ({ sub: '7' }), claims: () => extra, ...users },
  })
}

async function claimsIn(f: Fixture, scope: string, client: typeof web): Promise<Record<string, Json>> {
  const form = { grant_type: 'password', username: 'jane', password: 'x', scope }
  const token = (await f.post('token', form, client)).body.access_token
  return (await f.post('accessTokenValidation', { token })).body
}

describe.each(formats)('the claims that an API requests, in a %s', (_, client) => {
  test('come from the user service, with their types', async () => {
    const f = await withClaims(['role', 'department', 'level', 'remote', 'place'])
    expect(await claimsIn(f, 'api1', client)).toMatchObject({
      role: ['admin', 'editor'],
      department: 'R&D',
      level: 3,
      remote: false,
      place: { city: 'Ulm' },
    })
  })

  test('are only those of the granted scopes, without extra claims of the user service', async () => {
    const asked: string[][] = []
    const f = await withClaims(['department'], {
      claims(_sub, names) {
        asked.push([...names])
        return extra
      },
    })
    const claims = await claimsIn(f, 'openid api1', client)
    expect(claims.department).toBe('R&D')
    for (const name of ['unasked', 'role', 'nothing']) expect(claims).not.toHaveProperty(name)
    expect(asked).toEqual([['department']])
    expect(await claimsIn(f, 'openid api2', client)).not.toHaveProperty('department')
    expect(asked).toHaveLength(1)
  })

  test('are absent where the user has none, or null', async () => {
    const claims = await claimsIn(await withClaims(['nothing', 'missing', 'level']), 'api1', client)
    expect(claims).not.toHaveProperty('nothing')
    expect(claims).not.toHaveProperty('missing')
    expect(claims.level).toBe(3)
  })

  test('are not in a client-only token', async () => {
    const f = await withClaims(['department'])
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const token = (await f.post('token', form, client)).body.access_token
    const response = await f.post('accessTokenValidation', { token })
    expect(response.status).toBe(200)
    expect(response.body).not.toHaveProperty('department')
  })

  test('are those at the time of issue, and updated after a refresh', async () => {
    let department = 'R&D'
    const f = await withClaims(['department'], { claims: () => ({ department }) })
    const code = await f.code({ clientId: client[0], subject: { sub: '7', amr: ['pwd'] } })
    const first = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, client)
    department = 'Sales'
    const refresh = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }
    const second = await f.post('token', refresh, client)
    const departmentIn = async (token: string) => (await f.post('introspection', { token }, api1)).body.department
    expect(await departmentIn(first.body.access_token)).toBe('R&D')
    expect(await departmentIn(second.body.access_token)).toBe('Sales')
  })
})

describe('claims of the protocol', () => {
  const names = ['sub', 'iss', 'aud', 'exp', 'scope', 'client_id', 'jti', 'amr', 'idp', 'active', 'cnf', 'grant_id']

  test.each(names)('authorize() rejects the claim %s', async (name) => {
    const f = await fixture()
    await expect(f.code({ claims: { [name]: 'mine' } })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { reason: 'claim_reserved' },
    })
    expect(f.events.filter(({ type }) => type === 'code_issued')).toEqual([])
  })

  test.each(names)('rejects a grant that sets the claim %s', async (name) => {
    const forging = testGrant({
      grantType: 'urn:example:forging',
      handle: ({ scopes: granted }) => ({ scopes: granted, claims: { [name]: 'mine' } }),
    })
    const f = await fixture({
      plugins: [...builtInPlugins, forging],
      clients: clients.map((client) => ({ ...client, ...(!client.public && { grantTypes: [forging.grantType] }) })),
    })
    const response = await f.post('token', { grant_type: forging.grantType, scope: 'api1' }, web)
    expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
  })

  test('the claims of a code are in its access tokens, also after a refresh', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: 'web-jwt', claims: { tenant: 't1', flags: [1, true] } })
    const first = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, webJwt)
    const refresh = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }
    const second = await f.post('token', refresh, webJwt)
    for (const { body } of [first, second]) {
      expect(decodeJwt(body.access_token)).toMatchObject({ tenant: 't1', flags: [1, true] })
      expect(decodeJwt(body.id_token)).not.toHaveProperty('tenant')
    }
  })
})

describe.each(formats)('audiences in a %s', (_, client) => {
  const resources: readonly ScopeOptions[] = [
    { ...scopes[0], name: 'api1', audience: 'https://api1.example.com' },
    { ...scopes[1], name: 'api2', audience: 'https://api2.example.com' },
  ]

  test('one API: its resource identifier, as a string', async () => {
    const f = await fixture({ scopes: resources, users: { authenticate: () => ({ sub: '7' }) } })
    expect((await claimsIn(f, 'openid api2', client)).aud).toBe('https://api2.example.com')
  })

  test('several APIs: all of them, in an array, valid for each', async () => {
    const f = await fixture({ scopes: resources, users: { authenticate: () => ({ sub: '7' }) } })
    const aud = ['https://api1.example.com', 'https://api2.example.com']
    expect((await claimsIn(f, 'api1 openid api2', client)).aud).toEqual(aud)
    const form = { grant_type: 'client_credentials', scope: 'api1 api2' }
    const token = (await f.post('token', form, client)).body.access_token
    expect((await f.post('introspection', { token }, api1)).body).toMatchObject({ active: true, aud })
  })

  test('APIs that share an identifier: it is listed once', async () => {
    const shared = resources.map((scope) => ({ ...scope, audience: 'https://api.example.com' }))
    const f = await fixture({ scopes: shared, users: { authenticate: () => ({ sub: '7' }) } })
    expect((await claimsIn(f, 'api1 api2', client)).aud).toBe('https://api.example.com')
  })

  test('without a resource identifier: the issuer with /resources', async () => {
    const none: readonly ScopeOptions[] = [{ name: 'api1' }, { name: 'api2' }]
    const f = await fixture({ scopes: none, users: { authenticate: () => ({ sub: '7' }) } })
    expect((await claimsIn(f, 'openid api1 api2', client)).aud).toBe('https://id.example.com/resources')
    expect((await claimsIn(f, 'openid', client)).aud).toBe('https://id.example.com/resources')
  })
})
