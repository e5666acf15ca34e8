import type { Json } from '@grantry/core'
import { expect, test } from 'vitest'
import { formats } from '../support/access-token.ts'
import { clients, type Fixture, fixture, web } from '../support/fixture.ts'

/** The standard scopes of OpenID Connect Core section 5.4, with a value of every claim. */
const standard = {
  profile: {
    name: 'Jane Doe',
    family_name: 'Doe',
    given_name: 'Jane',
    middle_name: 'M',
    nickname: 'jd',
    preferred_username: 'jane',
    profile: 'https://example.com/jane',
    picture: 'https://example.com/jane.png',
    website: 'https://jane.example.com',
    gender: 'female',
    birthdate: '1970-01-01',
    zoneinfo: 'Europe/Berlin',
    locale: 'de-DE',
    updated_at: 1_700_000_000,
  },
  email: { email: 'jane@example.com', email_verified: true },
  address: { address: { formatted: 'Street 1\nTown', country: 'DE' } },
  phone: { phone_number: '+49 1', phone_number_verified: false },
  roles: { role: ['admin', 'editor'] },
} as const

type Claims = Record<string, Json | undefined>

function withClaims(claims: Claims, asked: string[][] = []): Promise<Fixture> {
  const everyScope = ['openid', ...Object.keys(standard), 'api1']
  return fixture({
    clients: clients.map((client) => ({ ...client, scopes: everyScope })),
    users: {
      authenticate: () => ({ sub: '7' }),
      claims(_, names) {
        asked.push([...names])
        return claims
      },
    },
  })
}

async function userinfo(f: Fixture, scope: string, client: typeof web = web): Promise<Record<string, Json>> {
  const form = { grant_type: 'password', username: 'jane', password: 'x', scope }
  const { access_token } = (await f.post('token', form, client)).body
  const response = await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect(response.status).toBe(200)
  return response.body
}

const everything: Claims = Object.assign({}, ...Object.values(standard))

test.each(formats)('5.10 openid alone returns sub and nothing else (%s)', async (_, client) => {
  expect(await userinfo(await withClaims(everything), 'openid', client)).toEqual({ sub: '7' })
})

test('5.10 sub is that of the token, whatever the user service returns', async () => {
  const f = await withClaims({ ...everything, sub: 'another' })
  expect(await userinfo(f, 'openid profile')).toEqual({ sub: '7', ...standard.profile })
})

test.each(Object.keys(standard) as (keyof typeof standard)[])(
  '5.11 the scope %s returns its claims of OIDC Core 5.4, and no other',
  async (scope) => {
    for (const [, client] of formats) {
      const f = await withClaims(everything)
      expect(await userinfo(f, `openid ${scope}`, client)).toEqual({ sub: '7', ...standard[scope] })
    }
  },
)

test('5.11 several scopes return the claims of all of them', async () => {
  const f = await withClaims(everything)
  expect(await userinfo(f, 'openid profile email address phone roles api1')).toEqual({ sub: '7', ...everything })
})

test('5.11 requests only the granted claims from the user service, and drops extra ones', async () => {
  const asked: string[][] = []
  const f = await withClaims({ email: 'jane@example.com', password_hash: 'x', role: ['admin'] }, asked)
  expect(await userinfo(f, 'openid email')).toEqual({ sub: '7', email: 'jane@example.com' })
  expect(asked).toEqual([['email', 'email_verified']])
})

test('5.11 omits a claim that the user does not have, or has as null', async () => {
  const f = await withClaims({ email: null, email_verified: undefined, phone_number: '+49 1' })
  expect(await userinfo(f, 'openid email phone')).toEqual({ sub: '7', phone_number: '+49 1' })
})

test('5.11 returns the current claims, not those at the time of issue', async () => {
  const f = await fixture()
  const form = { grant_type: 'password', username: 'bob', password: 'bob-password', scope: 'openid profile' }
  const { access_token } = (await f.post('token', form, web)).body
  const send = () => f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect((await send()).body).toEqual({ sub: '2', name: 'Bob' })
  Object.assign(f.users.bob?.claims ?? {}, { name: 'Robert' })
  expect((await send()).body).toEqual({ sub: '2', name: 'Robert' })
})

test.each([
  ['one role', 'reader', ['reader']],
  ['an array of one', ['reader'], ['reader']],
  ['several', ['a', 'b'], ['a', 'b']],
  ['none', [], []],
])('5.12 role is always an array: %s', async (_, role, list) => {
  expect(await userinfo(await withClaims({ role }), 'openid roles')).toEqual({ sub: '7', role: list })
})

test('5.12 matches the sample of the seed, section 2.5', async () => {
  const f = await fixture()
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid profile roles' }
  const { access_token } = (await f.post('token', form, web)).body
  const response = await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect(response.body).toEqual({
    sub: '1',
    name: 'Alice Smith',
    given_name: 'Alice',
    family_name: 'Smith',
    role: ['admin', 'editor'],
  })
})

test('5.13 a single value is a scalar', async () => {
  const { email, name } = await userinfo(await withClaims(everything), 'openid email profile')
  expect([email, name]).toEqual(['jane@example.com', 'Jane Doe'])
})

test.each([
  ['a number', 0],
  ['a fraction', 1.5],
  ['true', true],
  ['false', false],
  ['empty text', ''],
  ['an object', { deep: { list: [1, '2', null] } }],
  ['an array', [1, 'x', false]],
  ['text beyond ASCII', 'Ä "\n𝄞'],
])('5.14 %s keeps its type', async (_, value) => {
  expect(await userinfo(await withClaims({ address: value }), 'openid address')).toEqual({ sub: '7', address: value })
})

test('a failing user service is 500, without detail', async () => {
  let fails = false
  const f = await fixture({
    users: {
      authenticate: () => ({ sub: '7' }),
      claims() {
        if (fails) throw new Error('connection string: secret')
        return {}
      },
    },
  })
  const form = { grant_type: 'password', username: 'jane', password: 'x', scope: 'openid profile' }
  const { access_token } = (await f.post('token', form, web)).body
  fails = true
  const response = await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect(response.status).toBe(500)
  expect(response.body).toEqual({ error: 'server_error' })
})
