import { defineGrant } from '@grantry/core'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import type { ExchangeRequest } from '@grantry/plugins/token-exchange'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  app,
  backend,
  claimsOf,
  context,
  frontend,
  grantType,
  issuer,
  originalIssuer,
  originalKey,
  service,
  setUp,
  typeOf,
} from './exchange-parties.ts'

const refused = { error: 'invalid_request', error_description: 'The token cannot be exchanged' }

describe('RFC 8693 section 2.3: the example', () => {
  test('an API exchanges the access token that it received for one for a backend', async () => {
    const f = await setUp({ allow: ({ targets }) => targets.includes(backend) && { scopes: ['api'] } })
    const { access_token: token } = await f.logIn({ scopes: ['front'] })
    const { status, body } = await f.post(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange' +
        '&resource=https%3A%2F%2Fbackend.example.com%2Fapi' +
        `&subject_token=${token}` +
        '&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token',
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      issued_token_type: typeOf('access_token'),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'api',
    })
    expect(claimsOf(body)).toMatchObject({
      iss: issuer,
      aud: backend,
      sub: 'bdc@example.com',
      client_id: service[0],
      scope: 'api',
      amr: ['pwd'],
      auth_time: f.clock.now() - 5,
    })
    expect(claimsOf(body)).not.toHaveProperty('act')
  })
})

describe('RFC 8693 appendix A: the examples', () => {
  test('A.1, impersonation: a JWT of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const claims = f.originalClaims({ sub: 'bdc@example.net', scope: 'orders profile history' })
    const { status, body } = await f.exchange(await originalKey.sign(claims), {
      subject_token_type: typeOf('jwt'),
      resource: context,
      requested_token_type: typeOf('jwt'),
      scope: 'orders profile-data history',
    })
    expect([status, body.issued_token_type, body.scope]).toEqual([200, typeOf('jwt'), 'orders profile-data history'])
    expect(claimsOf(body)).toMatchObject({ iss: issuer, aud: context, sub: 'bdc@example.net', idp: originalIssuer })
  })

  test('A.2, delegation: the subject token names the actor, whose token is presented too', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const subject = f.originalClaims({
      scope: 'status feed',
      sub: 'user@example.net',
      may_act: { sub: 'admin@example.net' },
    })
    const { status, body } = await f.exchange(await originalKey.sign(subject), {
      subject_token_type: typeOf('jwt'),
      actor_token: await originalKey.sign(f.originalClaims({ sub: 'admin@example.net' })),
      actor_token_type: typeOf('jwt'),
      resource: context,
      scope: 'status feed',
    })
    expect(status).toBe(200)
    expect(claimsOf(body)).toMatchObject({
      sub: 'user@example.net',
      act: { sub: 'admin@example.net', iss: originalIssuer },
    })
  })
})

describe('RFC 8693 section 2.1: the request', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without subject_token', { subject_token: '' }, 'The parameter subject_token is required'],
    ['without subject_token_type', { subject_token_type: '' }, 'The parameter subject_token_type is required'],
    ['with an unknown type', { subject_token_type: typeOf('saml2') }, 'The subject_token_type is not supported'],
    ['with a short type', { subject_token_type: 'access_token' }, 'The subject_token_type is not supported'],
    [
      'with actor_token_type only',
      { actor_token_type: typeOf('access_token') },
      'actor_token and actor_token_type require each other',
    ],
    ['with actor_token only', { actor_token: 'x' }, 'actor_token and actor_token_type require each other'],
    [
      'with a refresh token as actor',
      { actor_token: 'x', actor_token_type: typeOf('refresh_token') },
      'The actor_token_type is not supported',
    ],
    [
      'for a refresh token',
      { requested_token_type: typeOf('refresh_token') },
      'The requested_token_type is not supported',
    ],
    [
      'for an identity token',
      { requested_token_type: typeOf('id_token') },
      'The requested_token_type is not supported',
    ],
  ])('%s is refused', async (_, more, text) => {
    const f = await setUp()
    const { status, body } = await f.exchange((await f.logIn()).access_token, more)
    expect([status, body]).toEqual([400, { error: 'invalid_request', error_description: text }])
  })

  test.each([
    ['access_token', undefined, 'access_token', false],
    ['jwt', 'jwt', 'jwt', true],
    ['access_token', 'access_token', 'access_token', false],
  ])('returns the type %s for requested_token_type %s', async (_, requested, issued, isJwt) => {
    const f = await setUp()
    const reference = await f.logIn()
    const { body } = await f.exchange(
      reference.access_token,
      requested === undefined ? {} : { requested_token_type: typeOf(requested) },
    )
    expect(body.issued_token_type).toBe(typeOf(issued))
    if (isJwt) expect(body.access_token.split('.')).toHaveLength(3)
  })

  test('resource and audience together name several services', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, { resource: backend, audience: frontend })
    expect(claimsOf(body).aud).toEqual([frontend, backend])
  })

  test('resource and audience together name several services, with resourceIndicators() too', async () => {
    const f = await setUp({}, resourceIndicators())
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, { resource: backend, audience: frontend })
    expect(claimsOf(body).aud).toEqual([frontend, backend])
  })

  test('resource and audience can repeat', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const base = new URLSearchParams({
      grant_type: grantType,
      subject_token: access_token,
      subject_token_type: typeOf('access_token'),
    })
    const form = (more: string[]) => `${base}&${more.map((one) => encodeURI(one)).join('&')}`
    const one = await f.post(form([`resource=${backend}`, `resource=${frontend}`]))
    expect(claimsOf(one.body).aud).toEqual([frontend, backend])
    const two = await f.post(form([`audience=${backend}`, `audience=${frontend}`]))
    expect(claimsOf(two.body).aud).toEqual([frontend, backend])
  })

  test.each([
    ['resource', 'frontend', 'plugin:token-exchange:malformed'],
    ['resource', 'https://evil.example.com/', 'audience_not_allowed'],
    ['audience', 'evil', 'audience_not_allowed'],
    ['audience', `${frontend}  ${backend}`, 'plugin:token-exchange:malformed'],
  ])('section 2.2.2: the %s %s is refused as invalid_target', async (name, value, reason) => {
    const f = await setUp()
    const { status, body, failure } = await f.exchange((await f.logIn()).access_token, { [name]: value })
    expect([status, body.error, failure]).toEqual([400, 'invalid_target', reason])
  })
})

describe('the scopes', () => {
  test('are those of the subject token by default, without offline_access', async () => {
    const f = await setUp()
    expect((await f.exchange((await f.logIn()).access_token)).body.scope).toBe('openid front api')
  })

  test('can be fewer', async () => {
    const f = await setUp()
    const { body } = await f.exchange((await f.logIn()).access_token, { scope: 'api' })
    expect([body.scope, claimsOf(body).aud]).toEqual(['api', backend])
  })

  test('are at most those of the subject token, unless the policy allows others', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn({ scopes: ['front'] })
    const { status, body, failure } = await f.exchange(access_token, { scope: 'front api' })
    expect([status, body.error, failure]).toEqual([400, 'invalid_scope', 'plugin:token-exchange:scope_not_allowed'])
    const g = await setUp({ allow: () => ({ scopes: ['api'] }) })
    const token = (await g.logIn({ scopes: ['front'] })).access_token
    expect((await g.exchange(token, { scope: 'api' })).body.scope).toBe('api')
    expect((await g.exchange(token)).body.scope).toBe('api')
    expect((await g.exchange(token, { scope: 'front' })).body.error).toBe('invalid_scope')
  })

  test('are at most those of the client', async () => {
    const f = await setUp({ allow: () => ({ scopes: ['api', 'orders'] }) })
    const { access_token } = await f.logIn()
    expect((await f.exchange(access_token, {}, app)).body.scope).toBe('api')
    expect((await f.exchange(access_token, { scope: 'orders' }, app)).body.error).toBe('invalid_scope')
  })

  test('must be named for a token without scopes', async () => {
    const f = await setUp({ allow: () => ({ scopes: ['api'] }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt') })
    expect([body.error, failure]).toEqual(['invalid_scope', 'plugin:token-exchange:scope_missing'])
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).status).toBe(200)
  })
})

describe('the subject token', () => {
  test('can be a refresh token of the same client, which is not spent', async () => {
    const f = await setUp()
    const { refresh_token } = await f.logIn()
    const more = { subject_token_type: typeOf('refresh_token'), scope: 'api' }
    expect((await f.exchange(refresh_token, more, app)).body.scope).toBe('api')
    expect((await f.exchange(refresh_token, more, app)).status).toBe(200)
    expect((await f.post({ grant_type: 'refresh_token', refresh_token }, app)).status).toBe(200)
  })

  test('can be an identity token of the same client', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const { id_token } = await f.logIn()
    const more = { subject_token_type: typeOf('id_token'), scope: 'api' }
    expect(claimsOf((await f.exchange(id_token, more, app)).body)).toMatchObject({
      sub: 'bdc@example.com',
      amr: ['pwd'],
    })
  })

  test.each(['refresh_token', 'id_token'])('cannot be the %s of another client', async (type) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const login = await f.logIn()
    const { status, body, failure } = await f.exchange(login[type], {
      subject_token_type: typeOf(type),
      scope: 'api',
    })
    expect([status, body, failure]).toEqual([400, refused, 'plugin:token-exchange:client_mismatch'])
  })

  test.each([
    ['access_token', 'id_token', 'id_token_invalid'],
    ['access_token', 'refresh_token', 'refresh_token_invalid'],
    ['access_token', 'jwt', 'issuer_unknown'],
    ['refresh_token', 'access_token', 'access_token_invalid'],
    ['id_token', 'access_token', 'access_token_invalid'],
    ['id_token', 'jwt', 'issuer_unknown'],
  ])('section 2.2.2: an %s as %s is refused', async (member, type, reason) => {
    const f = await setUp()
    const login = await f.logIn()
    const { status, body, failure } = await f.exchange(login[member], { subject_token_type: typeOf(type) }, app)
    expect([status, body, failure]).toEqual([400, refused, `plugin:token-exchange:${reason}`])
  })

  test('section 2.2.2: of a client without a user is refused', async () => {
    const f = await setUp()
    const { body, failure } = await f.exchange(await f.clientToken(app))
    expect([body, failure]).toEqual([refused, 'plugin:token-exchange:subject_unknown'])
  })

  test('section 2.2.2: of another issuer is refused without a mapping', async () => {
    const f = await setUp({ subject: undefined })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect([body, failure]).toEqual([refused, 'plugin:token-exchange:subject_unknown'])
  })

  test.each([
    ['expired', { exp: 1_799_999_000 }, 'expired'],
    ['for another server', { aud: 'https://other.example.com' }, 'aud_invalid'],
    ['of an unknown issuer', { iss: 'https://evil.example.com' }, 'issuer_unknown'],
    ['that has just expired, within the clock tolerance', { exp: 1_799_999_995 }, 'expired'],
  ])('section 2.2.2: a JWT %s is refused', async (_, claims, reason) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', ...claims }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect([body, failure]).toEqual([refused, `plugin:token-exchange:${reason}`])
  })

  test('can be an access token of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }), { typ: 'at+jwt' })
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).status).toBe(200)
  })
})

describe('the new token', () => {
  test.each(['access_token', 'refresh_token', 'id_token'])('is revoked with the login: from the %s', async (type) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const login = await f.logIn()
    const more = { subject_token_type: typeOf(type), scope: 'api' }
    const token = (await f.exchange(login[type], more, app)).body.access_token
    const isActive = async () => (await f.provider.inspect(token)).valid
    expect(await isActive()).toBe(true)
    await f.post({ token: login.refresh_token }, app, 'revocation')
    expect(await isActive()).toBe(false)
  })

  test('expires no later than the subject token, also of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const { access_token } = await f.logIn()
    f.clock.advance(500)
    expect((await f.exchange(access_token, { scope: 'api' })).body.expires_in).toBe(100)
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', exp: f.clock.now() + 30.9 }))
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).body.expires_in).toBe(30)
  })

  test('comes without a refresh token and an identity token', async () => {
    const f = await setUp()
    const { body } = await f.exchange((await f.logIn()).access_token, { scope: 'openid api offline_access' })
    expect(body).not.toHaveProperty('refresh_token')
    expect(body).not.toHaveProperty('id_token')
  })

  test('can be exchanged again', async () => {
    const f = await setUp()
    const first = await f.exchange((await f.logIn()).access_token)
    expect((await f.exchange(first.body.access_token, { scope: 'api' }, app)).body.scope).toBe('api')
  })

  test('has the claims that the policy adds', async () => {
    const f = await setUp({ allow: () => ({ claims: { reason: 'support' } }) })
    expect(claimsOf((await f.exchange((await f.logIn()).access_token)).body).reason).toBe('support')
  })
})

describe('RFC 8693 section 4.1: the claim act', () => {
  const asActor = (token: string) => ({ actor_token: token, actor_token_type: typeOf('access_token') })

  test('names the client of an actor token without a user', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, asActor(await f.clientToken(service)))
    expect(claimsOf(body)).toMatchObject({ sub: 'bdc@example.com', act: { sub: service[0] } })
  })

  test('contains the actors before it, and keeps them without an actor token', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const first = await f.exchange(access_token, asActor(await f.clientToken(app)))
    const second = await f.exchange(first.body.access_token, asActor(await f.clientToken(service)))
    expect(claimsOf(second.body).act).toEqual({ sub: service[0], act: { sub: app[0] } })
    const third = await f.exchange(second.body.access_token)
    expect(claimsOf(third.body).act).toEqual({ sub: service[0], act: { sub: app[0] } })
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
    const act = { sub: 'service16', act: { sub: 'service77', iss: 'https://third.example.com' } }
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', act }))
    const { body } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect(claimsOf(body).act).toEqual({
      sub: 'service16',
      iss: originalIssuer,
      act: { sub: 'service77', iss: 'https://third.example.com' },
    })
  })

  test('of a refresh token is kept', async () => {
    const delegated = defineGrant({
      grantType: 'urn:example:delegated',
      params: v.object({}),
      handle: ({ scopes }) => ({ subject: { sub: 'alice', amr: ['pwd'] }, scopes, actor: { sub: 'assistant' } }),
    })
    const f = await setUp({}, delegated)
    const login = { grant_type: 'urn:example:delegated', scope: 'front offline_access' }
    const { refresh_token } = (await f.post(login)).body
    const more = { subject_token_type: typeOf('refresh_token') }
    expect(claimsOf((await f.exchange(refresh_token, more)).body).act).toEqual({ sub: 'assistant' })
    const nested = await f.exchange(refresh_token, { ...more, ...asActor(await f.clientToken(app)) })
    expect(claimsOf(nested.body).act).toEqual({ sub: app[0], act: { sub: 'assistant' } })
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

describe('the policy', () => {
  test('refuses every exchange by default', async () => {
    const f = await setUp({ allow: undefined })
    const { status, body, failure } = await f.exchange((await f.logIn()).access_token)
    expect([status, body, failure]).toEqual([400, refused, 'plugin:token-exchange:not_allowed'])
  })

  test('gets the client, both tokens, the scopes and the targets', async () => {
    const requests: ExchangeRequest[] = []
    const f = await setUp({ allow: (request) => void requests.push(request) })
    const { access_token } = await f.logIn()
    await f.exchange(access_token, {
      scope: 'api',
      resource: backend,
      actor_token: await f.clientToken(service),
      actor_token_type: typeOf('access_token'),
    })
    expect(requests).toMatchObject([
      {
        client: { clientId: service[0] },
        subject: {
          type: 'access_token',
          clientId: app[0],
          sub: 'bdc@example.com',
          scopes: ['openid', 'offline_access', 'front', 'api'],
        },
        actor: { type: 'access_token', clientId: service[0], claims: { client_id: service[0] } },
        scopes: ['api'],
        targets: [backend],
      },
    ])
  })
})
