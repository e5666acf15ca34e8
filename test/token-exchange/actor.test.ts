import type { Credentials } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { testGrant } from '../support/test-grant.ts'
import { app, issuer, originalIssuer, originalKey, refused, service, setUp, typeOf } from './exchange-parties.ts'

const clientActor = ([clientId]: Credentials) => ({ sub: clientId, client_id: clientId })

describe('RFC 8693 section 4.1: the claim act', () => {
  const asActor = (token: string) => ({ actor_token: token, actor_token_type: typeOf('access_token') })

  test('names the client of an actor token without a user', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, asActor(await f.clientToken(service)))
    expect(claimsOf(body)).toMatchObject({ sub: 'bdc@example.com', act: clientActor(service) })
  })

  test('contains the actors before it, and keeps them without an actor token', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const first = await f.exchange(access_token, asActor(await f.clientToken(app)))
    const second = await f.exchange(first.body.access_token, asActor(await f.clientToken(service)))
    expect(claimsOf(second.body).act).toEqual({ ...clientActor(service), act: clientActor(app) })
    const third = await f.exchange(second.body.access_token)
    expect(claimsOf(third.body).act).toEqual({ ...clientActor(service), act: clientActor(app) })
  })

  test('contains at most five actors', async () => {
    const f = await setUp()
    let token = (await f.logIn()).access_token
    const actor = asActor(await f.clientToken(service))
    for (let depth = 0; depth < 5; depth += 1) token = (await f.exchange(token, actor)).body.access_token
    const { status, body, failure } = await f.exchange(token, actor)
    expect([status, body, failure]).toEqual([400, refused, 'plugin:token-exchange:actor_chain_invalid'])
    expect((await f.exchange(token)).status).toBe(200)
  })

  test('of another issuer keeps the issuer of each actor', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const act = { sub: 'service16', client_id: 's16', act: { sub: 'service77', iss: 'https://third.example.com' } }
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', act }))
    const { body } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect(claimsOf(body).act).toEqual({
      sub: 'service16',
      client_id: 's16',
      iss: originalIssuer,
      act: { sub: 'service77', iss: 'https://third.example.com' },
    })
  })

  test('of a refresh token is kept', async () => {
    const delegated = testGrant({
      grantType: 'urn:example:delegated',
      handle: ({ scopes }) => ({ subject: { sub: 'alice', amr: ['pwd'] }, scopes, actor: { sub: 'assistant' } }),
    })
    const f = await setUp({}, delegated)
    const login = { grant_type: 'urn:example:delegated', scope: 'front offline_access' }
    const { refresh_token } = (await f.post(login)).body
    const more = { subject_token_type: typeOf('refresh_token') }
    expect(claimsOf((await f.exchange(refresh_token, more)).body).act).toEqual({ sub: 'assistant' })
    const nested = await f.exchange(refresh_token, { ...more, ...asActor(await f.clientToken(app)) })
    expect(claimsOf(nested.body).act).toEqual({ ...clientActor(app), act: { sub: 'assistant' } })
  })

  test('does not contain a name of more than 255 characters', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const actorOf = async (sub: string) => ({
      actor_token: await originalKey.sign(f.originalClaims({ sub })),
      actor_token_type: typeOf('jwt'),
    })
    expect((await f.exchange(access_token, await actorOf('x'.repeat(255)))).status).toBe(200)
    const { status, body, failure } = await f.exchange(access_token, await actorOf('x'.repeat(256)))
    expect([status, body, failure]).toEqual([400, refused, 'plugin:token-exchange:sub_invalid'])
  })

  test.each([
    ['no sub', {}],
    ['a long name', { sub: 'x'.repeat(256) }],
    ['an actor that is a text', 'service16'],
    ['an empty sub', { sub: '' }],
    ['a malformed chain', { sub: 'service16', act: 5 }],
  ])('of another issuer is refused with %s', async (_, act) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', act }))
    const { failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect(failure).toBe('plugin:token-exchange:actor_chain_invalid')
  })
})

describe('RFC 8693 section 4.4: the claim may_act', () => {
  async function exchangeAs(may_act: unknown, actor: 'admin' | 'client' | 'none' = 'admin') {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const subject = await originalKey.sign(f.originalClaims({ sub: 'user', may_act }))
    const token =
      actor === 'client'
        ? { actor_token: await f.clientToken(service), actor_token_type: typeOf('access_token') }
        : {
            actor_token: await originalKey.sign(f.originalClaims({ sub: 'admin', email: 'admin@example.net' })),
            actor_token_type: typeOf('jwt'),
          }
    const more = { subject_token_type: typeOf('jwt'), scope: 'api', ...(actor !== 'none' && token) }
    const { status, failure } = await f.exchange(subject, more)
    return status === 200 ? 'accepted' : failure
  }
  const no = 'plugin:token-exchange:may_not_act'

  test.each<[string, unknown, 'admin' | 'client' | 'none', string]>([
    ['the actor', { sub: 'admin' }, 'admin', 'accepted'],
    ['the actor with its issuer', { sub: 'admin', iss: originalIssuer }, 'admin', 'accepted'],
    ['the actor with other claims', { sub: 'admin', email: 'admin@example.net' }, 'admin', 'accepted'],
    ['the actor with claims that are not an identity', { sub: 'admin', exp: 1, aud: 'x' }, 'admin', 'accepted'],
    ['the client of the actor token', { client_id: service[0], iss: issuer }, 'client', 'accepted'],
    ['the client of the actor token as sub', { sub: service[0], iss: issuer }, 'client', 'accepted'],
    ['the client, without an actor token', { client_id: service[0], iss: issuer }, 'none', 'accepted'],
    ['another actor', { sub: 'root' }, 'admin', no],
    ['the actor of another issuer', { sub: 'admin', iss: issuer }, 'admin', no],
    ['a client of the issuer of the subject token', { client_id: service[0] }, 'client', no],
    ['an actor with another email', { sub: 'admin', email: 'root@example.net' }, 'admin', no],
    ['an issuer only', { iss: originalIssuer }, 'admin', no],
    ['no party', {}, 'admin', no],
    ['a text', 'admin', 'admin', no],
    ['a list', [{ sub: 'admin' }], 'admin', no],
    ['nothing', null, 'admin', no],
    ['an actor whose token is not presented', { sub: 'admin' }, 'none', no],
  ])('that names %s', async (_, may, actor, outcome) => {
    expect(await exchangeAs(may, actor)).toBe(outcome)
  })
})
