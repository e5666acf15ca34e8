// Inside the retry window a rotated refresh token returns the first response only for the same request. An attacker who
// sends another request must neither get the first response nor hide behind it.
import { defineGrant, defineGrantCheck, definePlugin, type GrantKit } from '@grantry/core'
import { basic } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { withoutSignatures } from '../support/same-tokens.ts'

const grantType = 'urn:example:tenant'

const tenantGrant = defineGrant({
  grantType,
  scope: 'optional',
  params: v.object({ refresh_token: v.string(), tenant: v.string() }),
  async handle({ params, scopes }, kit) {
    const stored = await kit.findGrant('refresh', params.refresh_token)
    if (stored === undefined) throw new TypeError('an issued token has no record')
    return {
      subject: stored.subject,
      scopes: scopes.length > 0 ? scopes : stored.scopes,
      claims: { tenant: params.tenant },
      redeems: [stored],
    }
  },
})

const assertTokensWork = async (token: string, kit: GrantKit) => {
  const stored = await kit.findGrant('refresh', token)
  if (stored === undefined) throw new TypeError('an issued token has no record')
  return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
}

/** Grants that declare their parameters in other forms than a plain object. */
const renamingGrant = defineGrant({
  grantType: 'urn:example:renaming',
  scope: 'optional',
  params: v.pipe(
    v.object({ refresh_token: v.string(), door: v.string() }),
    v.transform(({ refresh_token: token, door }) => ({ token, entrance: door })),
  ),
  handle: ({ params }, kit) => assertTokensWork(params.token, kit),
})
const eitherGrant = defineGrant({
  grantType: 'urn:example:either',
  scope: 'optional',
  params: v.union([
    v.object({ refresh_token: v.string(), red: v.string() }),
    v.object({ refresh_token: v.string(), blue: v.string() }),
  ]),
  handle: ({ params }, kit) => assertTokensWork(params.refresh_token, kit),
})
const openGrant = defineGrant({
  grantType: 'urn:example:open',
  scope: 'optional',
  params: v.looseObject({ refresh_token: v.string() }),
  handle: ({ params }, kit) => assertTokensWork(params.refresh_token, kit),
})

/** Declares a parameter of the refresh token grant. */
const deviceCheck = defineGrantCheck({
  settles: 'device' as 'proof_key',
  grantTypes: ['refresh_token'],
  params: v.object({ device: v.optional(v.string()) }),
  check: () => undefined,
})

const grants = [tenantGrant, renamingGrant, eitherGrant, openGrant]
const confidential = clients.filter((client) => !client.public)

async function loggedIn() {
  const f = await fixture({
    plugins: [builtInPlugins, grants, definePlugin('device', [deviceCheck])],
    clients: confidential.map((client) => ({
      ...client,
      grantTypes: [...(client.grantTypes ?? []), ...grants.map((grant) => grant.grantType)],
    })),
  })
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password' }
  const { body } = await f.post('token', { ...login, scope: 'openid api1 offline_access' }, web)
  return { f, first: String(body.refresh_token) }
}

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

type Form = Record<string, string>

const custom = (more: Form): Form => ({ grant_type: grantType, ...more })
const renaming = (more: Form): Form => ({ grant_type: 'urn:example:renaming', ...more })
const either = (more: Form): Form => ({ grant_type: 'urn:example:either', ...more })
const open = (more: Form): Form => ({ grant_type: 'urn:example:open', ...more })
const plain = (more: Form = {}): Form => ({ grant_type: 'refresh_token', ...more })

/** The order of the scopes is that of each request. */
const tokensIn = (body: { readonly scope: string }) => ({
  ...withoutSignatures(body),
  scope: body.scope.split(' ').sort(),
})

describe('the same refresh token inside the window', () => {
  test.each<[string, Form, Form]>([
    ['another parameter of a custom grant', custom({ tenant: 'red' }), custom({ tenant: 'blue' })],
    ['another grant type', plain({ tenant: 'red' }), custom({ tenant: 'red' })],
    ['another parameter of a check', plain({ device: 'one' }), plain({ device: 'two' })],
    ['an additional parameter of a check', plain(), plain({ device: 'one' })],
    ['a parameter of a check left out', plain({ device: 'one' }), plain()],
    ['another parameter that the grant renames', renaming({ door: 'north' }), renaming({ door: 'south' })],
    ['another value for one of two forms', either({ red: '1' }), either({ blue: '1' })],
    ['another parameter of a grant that accepts any', open({ anything: '1' }), open({ anything: '2' })],
    ['other scopes', plain({ scope: 'openid api1' }), plain({ scope: 'openid' })],
    ['the scopes that were left out', plain(), plain({ scope: 'openid api1 offline_access' })],
    ['a value split differently', open({ a: '1', b: '2' }), open({ a: '1","b":"2' })],
  ])('3.40 with %s is a replay: rejected, and the family is revoked', async (_, form, retry) => {
    const { f, first } = await loggedIn()
    const rotated = await f.post('token', { ...form, refresh_token: first }, web)
    expect(rotated.status).toBe(200)
    f.events.length = 0
    const { status, body } = await f.post('token', { ...retry, refresh_token: first }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'refresh_reused' }))
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'refresh_reused' })
    expect(await isActive(f, rotated.body.access_token)).toBe(false)
    expect((await f.post('token', plain({ refresh_token: rotated.body.refresh_token }), web)).status).toBe(400)
  })

  test.each<[string, Form, Form]>([
    ['the same parameter of a custom grant', custom({ tenant: 'red' }), custom({ tenant: 'red' })],
    ['the scopes in another order', plain({ scope: 'openid api1' }), plain({ scope: 'api1 openid' })],
    ['the scopes with extra spaces', plain({ scope: 'openid api1' }), plain({ scope: ' openid  api1 ' })],
    ['the scopes repeated', plain({ scope: 'openid api1' }), plain({ scope: 'api1 openid api1' })],
    ['a scope of spaces only', plain(), plain({ scope: '  ' })],
    ['the parameters in another order', open({ a: '1', b: '2' }), open({ b: '2', a: '1' })],
    ['an additional empty parameter', plain(), plain({ device: '' })],
    // RFC 6749 section 3.2: undeclared parameters are ignored.
    ['another value of an undeclared parameter', plain({ unknown: '1' }), plain({ unknown: '2' })],
    ['an additional undeclared parameter', plain(), plain({ unknown: '1' })],
    ['an undeclared parameter left out', plain({ unknown: '1' }), plain()],
    ['a parameter of another grant type', plain(), plain({ tenant: 'red', code: 'x' })],
    ['a parameter of a check of another grant type', plain(), plain({ code_verifier: 'x'.repeat(43) })],
    ['an undeclared parameter beside the form that was chosen', either({ red: '1' }), either({ red: '1', green: '1' })],
    ['an undeclared parameter named __proto__', plain(), plain(JSON.parse('{"__proto__":"1"}'))],
  ])('3.40 with %s is the same request: the same tokens', async (_, form, retry) => {
    const { f, first } = await loggedIn()
    const rotated = await f.post('token', { ...form, refresh_token: first }, web)
    expect(rotated.status).toBe(200)
    const { status, body } = await f.post('token', { ...retry, refresh_token: first }, web)
    expect(status).toBe(200)
    expect(tokensIn(body)).toEqual(tokensIn(rotated.body))
    expect(await isActive(f, rotated.body.access_token)).toBe(true)
  })

  test('with the secret in the form instead of the header is the same request, and vice versa', async () => {
    const { f, first } = await loggedIn()
    const inForm = { client_id: web[0], client_secret: web[1] }
    const rotated = await f.post('token', plain({ refresh_token: first }), web)
    const retried = await f.post('token', plain({ refresh_token: first, ...inForm }))
    expect(withoutSignatures(retried.body)).toEqual(withoutSignatures(rotated.body))
    const next = rotated.body.refresh_token
    const again = await f.post('token', plain({ refresh_token: next, ...inForm }))
    expect(again.status).toBe(200)
    const retriedAgain = await f.post('token', plain({ refresh_token: next }), web)
    expect(withoutSignatures(retriedAgain.body)).toEqual(withoutSignatures(again.body))
    const beside = await f.provider.handlers.token(
      new Request(`${f.provider.issuer}/connect/token`, {
        method: 'POST',
        headers: { authorization: basic(web) },
        body: new URLSearchParams(plain({ refresh_token: next, client_id: web[0] })),
      }),
    )
    expect(withoutSignatures(await beside.json())).toEqual(withoutSignatures(again.body))
  })
})
