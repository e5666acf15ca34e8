/**
 * Attack: a client that may exchange tokens uses that to gain more than the token it has: a longer life, a life after the
 * revocation, more scopes or audiences, the token without the trace of who acts, or tokens of other clients that it has
 * seen.
 *
 * RFC 8693 section 5: an exchange must not be a means to elevate privileges. Section 4.1: the chain of actors shows who
 * has acted. That the new token ends with the subject token is hardening.
 */
import { createTestClock } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import {
  app,
  backend,
  frontend,
  originalKey,
  refused,
  service,
  setUp,
  typeOf,
} from '../token-exchange/exchange-parties.ts'

test('a token cannot be kept alive by exchanging it again and again', async () => {
  const f = await setUp()
  let token = (await f.logIn()).access_token
  const { exp } = claimsOf({ access_token: token })
  for (let round = 0; round < 5; round += 1) {
    f.clock.advance(100)
    token = (await f.exchange(token)).body.access_token
    expect(claimsOf({ access_token: token }).exp).toBe(exp)
  }
  f.clock.advance(101)
  expect((await f.exchange(token)).body).toEqual(refused)
})

describe('after the revocation of the login', () => {
  test.each<[string, (f: Awaited<ReturnType<typeof setUp>>, refreshToken: string) => Promise<unknown>]>([
    ['by its client', (f, token) => f.post({ token }, app, 'revocation')],
    ['of the user', (f) => f.provider.revoke({ subject: 'bdc@example.com' })],
  ])('%s, neither the token nor what it was exchanged for can be exchanged or used', async (_, revoke) => {
    const f = await setUp()
    const login = await f.logIn()
    const first = (await f.exchange(login.access_token)).body.access_token
    const second = (await f.exchange(first)).body.access_token
    expect((await f.provider.inspect(second)).valid).toBe(true)
    await revoke(f, login.refresh_token)
    for (const token of [login.access_token, first, second]) {
      expect((await f.provider.inspect(token)).valid).toBe(false)
      expect((await f.exchange(token)).body).toEqual(refused)
    }
  })
})

test('a spent refresh token is not exchanged, and its use revokes the family', async () => {
  const f = await setUp()
  const { refresh_token } = await f.logIn()
  const next = await f.post({ grant_type: 'refresh_token', refresh_token }, app)
  const more = { subject_token_type: typeOf('refresh_token'), scope: 'api' }
  expect((await f.exchange(refresh_token, more, app)).body).toEqual(refused)
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'refresh_reused' }))
  expect((await f.provider.inspect(next.body.access_token)).valid).toBe(false)
})

test('another client with a spent refresh token cannot revoke the family', async () => {
  const f = await setUp()
  const { refresh_token } = await f.logIn()
  const next = await f.post({ grant_type: 'refresh_token', refresh_token }, app)
  const more = { subject_token_type: typeOf('refresh_token'), scope: 'api' }
  expect((await f.exchange(refresh_token, more, service)).body).toEqual(refused)
  expect((await f.provider.inspect(next.body.access_token)).valid).toBe(true)
})

describe('a narrow token is not widened', () => {
  test.each<[string, Record<string, string>]>([
    ['by scope', { scope: 'api' }],
    ['by several scopes', { scope: 'front api' }],
    ['by resource', { resource: backend }],
    ['by audience', { audience: backend }],
    ['by audience and resource', { audience: frontend, resource: backend }],
  ])('%s', async (_, more) => {
    const f = await setUp()
    const { access_token } = await f.logIn({ scopes: ['front'] })
    const { status, body } = await f.exchange(access_token, more)
    expect(status).toBe(400)
    expect(['invalid_scope', 'invalid_target']).toContain(body.error)
  })

  test('by an exchange of the token that another one has narrowed', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const narrow = (await f.exchange(access_token, { scope: 'front' })).body.access_token
    expect((await f.exchange(narrow, { scope: 'api' })).body.error).toBe('invalid_scope')
    expect((await f.exchange(narrow)).body.scope).toBe('front')
  })
})

describe('the actor of a token', () => {
  const asActor = (token: string) => ({ actor_token: token, actor_token_type: typeOf('access_token') })

  test('is not removed by exchanging the token without an actor token', async () => {
    const f = await setUp()
    const acting = await f.exchange((await f.logIn()).access_token, asActor(await f.clientToken(service)))
    const washed = await f.exchange(acting.body.access_token, { scope: 'front' }, app)
    expect(claimsOf(washed.body).act).toEqual({ sub: service[0], client_id: service[0] })
  })

  test('is not hidden by presenting a token that has an actor itself', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const acting = await f.exchange(access_token, asActor(await f.clientToken(service)))
    const { body, failure } = await f.exchange(access_token, asActor(acting.body.access_token))
    expect([body, failure]).toEqual([refused, 'plugin:token-exchange:actor_delegated'])
  })

  test.each([
    ['forged', 'forged.forged.forged'],
    ['unknown', 'x'.repeat(43)],
  ])('is not accepted from a token that is %s', async (_, token) => {
    const f = await setUp()
    expect((await f.exchange((await f.logIn()).access_token, asActor(token))).body).toEqual(refused)
  })

  test('is not the user of an identity token for another client', async () => {
    const f = await setUp()
    const login = await f.logIn({ subject: { sub: 'admin', amr: ['pwd'] } })
    const actor = { actor_token: login.id_token, actor_token_type: typeOf('id_token') }
    expect((await f.exchange(login.access_token, actor, service)).body).toEqual(refused)
    expect((await f.exchange(login.access_token, actor, app)).status).toBe(200)
  })
})

test('a response does not show why a token was refused', async () => {
  const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
  const expired = await originalKey.sign(f.originalClaims({ sub: 'bdc', exp: createTestClock().now() - 60 }))
  const login = await f.logIn()
  const bodies = await Promise.all([
    f.exchange('x'),
    f.exchange('a.b.c'),
    f.exchange(expired, { subject_token_type: typeOf('jwt') }),
    f.exchange(login.refresh_token, { subject_token_type: typeOf('refresh_token') }),
    f.exchange(login.id_token, { subject_token_type: typeOf('id_token') }),
  ])
  for (const { body } of bodies) expect(body).toEqual(refused)
  const log = JSON.stringify(f.events)
  for (const token of [expired, login.refresh_token, login.id_token]) expect(log).not.toContain(token)
})
