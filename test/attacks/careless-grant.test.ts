/**
 * Attack: a custom grant looks up a stored code or refresh token, decides on it, and forgets to return it. Then nothing
 * would compare its owner, check its proof key, or spend it: one code would yield any number of tokens. Or it changes the
 * lists of scopes that it receives, or the client, against which the core checks what it returns.
 */
import { type Client, defineGrant, type Grant } from '@grantry/core'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  otherClient,
  proof,
  redirectUri,
  web,
} from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:careless'

const careless = defineGrant({
  grantType,
  params: v.object({ code: v.optional(v.string()), refresh_token: v.optional(v.string()) }),
  async handle({ params, scopes }, kit) {
    const stored = params.code
      ? await kit.findGrant('code', params.code)
      : await kit.findGrant('refresh', params.refresh_token ?? '')
    return { subject: stored?.subject ?? { sub: '2', amr: ['nothing'] }, scopes }
  },
})

const confidential = clients.filter((client) => !client.public)

const start = (grant: Grant = careless) =>
  fixture({
    plugins: [builtInPlugins, grant],
    clients: confidential.map((client) => ({ ...client, grantTypes: [...(client.grantTypes ?? []), grantType] })),
  })

const present = (f: Fixture, form: Record<string, string>, as = web) =>
  f.post('token', { grant_type: grantType, scope: 'openid api1', ...form }, as)

function expectNothing(f: Fixture, { status, body, failure }: Awaited<ReturnType<typeof present>>): void {
  expect(status).toBe(500)
  expect(body).toEqual({ error: 'server_error' })
  expect(failure).toBeInstanceOf(TypeError)
  expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
}

test.each([
  ['its own client', web],
  ['another client', otherClient],
] as const)(
  'a grant that looks up a code for %s and does not return it gets no token, and the code stays redeemable',
  async (_, as) => {
    const f = await start()
    const code = await f.code({ codeChallenge: proof.challenge })
    expectNothing(f, await present(f, { code }, as))
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
    expect((await f.post('token', form, web)).status).toBe(200)
  },
)

test('a grant that looks up a refresh token and does not return it gets no token, and the refresh token stays valid', async () => {
  const f = await start()
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const refresh_token = String((await f.post('token', login, web)).body.refresh_token)
  f.events.length = 0
  expectNothing(f, await present(f, { refresh_token }))
  expect((await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)).status).toBe(200)
})

test('a grant that looked up an unknown code may succeed without it', async () => {
  const f = await start()
  expect((await present(f, { code: 'an-unknown-code' })).status).toBe(200)
})

test('a grant that looks up a code besides the refresh token that it redeems gets no token', async () => {
  const both = defineGrant({
    grantType,
    params: v.object({ code: v.string(), refresh_token: v.string(), how: v.picklist(['redeem', 'continue family']) }),
    async handle({ params: { code, refresh_token, how }, scopes }, kit) {
      const stored = await kit.findGrant('code', code)
      const refresh = await kit.findGrant('refresh', refresh_token)
      if (stored === undefined || refresh === undefined) throw new Error('Not found')
      const { subject } = stored
      return how === 'redeem'
        ? { subject, scopes, redeems: [refresh] }
        : { subject, scopes, continuesFamilyOf: refresh }
    },
  })
  const f = await start(both)
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const refresh_token = String((await f.post('token', login, web)).body.refresh_token)
  f.events.length = 0
  const code = await f.code({ codeChallenge: proof.challenge })
  for (const how of ['redeem', 'continue family']) {
    expectNothing(f, await present(f, { code, refresh_token, how, scope: 'api1' }))
  }
})

test('a grant may look up the refresh token that it redeems twice', async () => {
  const twice = defineGrant({
    grantType,
    params: v.object({ refresh_token: v.string() }),
    async handle({ params: { refresh_token }, scopes }, kit) {
      await kit.findGrant('refresh', refresh_token)
      const stored = await kit.findGrant('refresh', refresh_token)
      if (stored === undefined) throw new Error('Not found')
      return { subject: stored.subject, scopes, redeems: [stored] }
    },
  })
  const f = await start(twice)
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const refresh_token = String((await f.post('token', login, web)).body.refresh_token)
  expect((await present(f, { refresh_token, scope: 'api1' })).status).toBe(200)
})

/** Adds a scope to a list, which the type of the list forbids. */
function withEmail(scopes: readonly string[]): readonly string[] {
  const list = scopes as string[]
  list.push('email')
  return list
}

test('a grant that adds a scope to the requested ones gets no token', async () => {
  const widening = testGrant({
    grantType,
    handle: ({ scopes }) => ({ subject: { sub: '1', amr: ['pwd'] }, scopes: withEmail(scopes) }),
  })
  const f = await start(widening)
  expectNothing(f, await present(f, {}))
})

test('a grant that adds a scope to the authorized ones gets no token', async () => {
  const widening = defineGrant({
    grantType,
    scope: 'optional',
    params: v.object({ refresh_token: v.string() }),
    async handle({ params }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      if (stored === undefined) throw new Error('Not found')
      return { subject: stored.subject, scopes: withEmail(stored.scopes), redeems: [stored] }
    },
  })
  const f = await start(widening)
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const refresh_token = String((await f.post('token', login, web)).body.refresh_token)
  f.events.length = 0
  expectNothing(f, await present(f, { refresh_token, scope: '' }))
})

test.each<[string, (client: Client) => void]>([
  ['the scopes', ({ scopes }) => (scopes as string[]).push('api2')],
  ['the kind', (client) => Object.assign(client, { public: true })],
  ['the refresh tokens', ({ refreshToken }) => Object.assign(refreshToken, { usage: 'reuse' })],
])('a grant that changes %s of the client gets no token', async (_, change) => {
  const changing = testGrant({
    grantType,
    handle({ client, scopes }) {
      change(client)
      return { scopes }
    },
  })
  const f = await start(changing)
  expectNothing(f, await present(f, { scope: 'api1' }))
})
