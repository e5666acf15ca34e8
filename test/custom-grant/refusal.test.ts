// Not an attack from outside: a plugin is foreign code, and its mistakes must neither reach the wire nor become a
// token.
import { type GrantResult, OAuthError, type OAuthErrorCode, type OAuthErrorOptions } from '@grantry/core'
import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:badge'

/** A grant that behaves as the test specifies. */
const start = (handle: () => unknown) =>
  createTestProvider({
    plugins: [testGrant({ grantType, handle: () => handle() as GrantResult })],
  })

const present = (f: TestProvider, scope = 'api1') => f.post('token', { grant_type: grantType, scope }, testClient)

const thrown = (error: unknown) => () => {
  throw error
}

const failures = (f: TestProvider) => f.events.filter(({ type }) => type === 'unhandled_failure')

const codes: readonly [OAuthErrorCode, number][] = [
  ['invalid_request', 400],
  ['invalid_grant', 400],
  ['invalid_scope', 400],
  ['unauthorized_client', 400],
  ['unsupported_grant_type', 400],
  ['access_denied', 400],
  ['authorization_pending', 400],
  ['expired_token', 400],
  ['slow_down', 400],
  ['invalid_target', 400],
  ['login_required', 400],
  ['consent_required', 400],
  ['interaction_required', 400],
  ['invalid_client', 401],
  ['temporarily_unavailable', 503],
]

describe('a grant that refuses', () => {
  test.each(codes)('3.51 %s returns status %i', async (code, expected) => {
    const f = await start(thrown(new OAuthError(code, 'The door stays shut', { reason: 'plugin:badge:shut' })))
    const { status, headers, body } = await present(f)
    expect(status).toBe(expected)
    expect(body).toEqual({ error: code, error_description: 'The door stays shut' })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', error: code, reason: 'plugin:badge:shut' })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.has('www-authenticate')).toBe(expected === 401)
  })

  test('3.51 the reason stays internal, and the retry time is sent', async () => {
    const details: OAuthErrorOptions = {
      reason: 'plugin:badge:busy',
      status: 429,
      retryAfter: 7,
      cause: 'secret cause',
    }
    const f = await start(thrown(new OAuthError('slow_down', 'Too many badges', details)))
    const { status, headers, body } = await present(f)
    expect(status).toBe(429)
    expect(headers.get('retry-after')).toBe('7')
    expect(body).toEqual({ error: 'slow_down', error_description: 'Too many badges' })
  })

  test('3.51 strips characters that a description must not contain (RFC 6749 section 5.2)', async () => {
    const f = await start(thrown(new OAuthError('access_denied', 'No "door"\\ für\r\ndich', { reason: 'plugin:x:y' })))
    expect((await present(f)).body.error_description).toBe('No door frdich')
  })

  test('3.51 recognizes an error of another copy of the package', async () => {
    const foreign = Object.assign(new Error('Not today'), {
      [Symbol.for('grantry.OAuthError')]: true,
      code: 'access_denied',
      details: { reason: 'plugin:badge:not_today' },
    })
    const f = await start(thrown(foreign))
    const { status, body } = await present(f)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'access_denied', error_description: 'Not today' })
  })

  test('3.51 a rejected promise is the same as a thrown error', async () => {
    const f = await start(() => Promise.reject(new OAuthError('access_denied', 'No', { reason: 'plugin:badge:no' })))
    expect((await present(f)).body).toEqual({ error: 'access_denied', error_description: 'No' })
  })
})

describe('a grant that fails', () => {
  test.each([
    ['an error', new Error('SELECT * FROM badges WHERE pin = 1234')],
    ['an error that looks like one of ours', Object.assign(new Error('pin 1234'), { code: 'invalid_grant' })],
    ['an object', { error: 'invalid_grant', error_description: 'pin 1234' }],
    ['a text', 'pin 1234'],
    ['a response', new Response('pin 1234', { status: 200 })],
    ['null', null],
    ['undefined', undefined],
  ])('3.52 by throwing %s: server_error, without any detail', async (_, error) => {
    const f = await start(thrown(error))
    const { status, body } = await present(f)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(failures(f)).toHaveLength(1)
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'unhandled_failure' })
  })

  test('3.52 the cause is in the events, where the operator finds it', async () => {
    const cause = new Error('badge database is gone')
    const f = await start(thrown(cause))
    await present(f)
    expect(failures(f)).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: cause.message }),
        reason: 'unhandled_failure',
      }),
    ])
  })

  test.each<[string, unknown]>([
    ['no details', undefined],
    ['a text instead of details', 'plugin:badge:shut'],
    ['details without a reason', { status: 429 }],
    ['a reason that is not a text', { reason: 7 }],
  ])('by refusing with %s: the operator learns what is missing, and where', async (_, details) => {
    const refuseBadge = (): never => {
      throw new OAuthError('access_denied', 'The door stays shut', details as OAuthErrorOptions)
    }
    const { status, body, failure } = await present(await start(refuseBadge))
    expect({ status, body }).toEqual({ status: 500, body: { error: 'server_error' } })
    expect(failure).toBeInstanceOf(TypeError)
    const { message, stack = '' } = failure as TypeError
    expect(message).toBe(
      "new OAuthError('access_denied', ...) requires a third argument with a reason: { reason: 'building_closed' }",
    )
    expect(stack).toContain('refuseBadge')
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'granted'],
    ['an array', []],
    ['a response', new Response('{}')],
    ['no scopes', { subject: { sub: '1', amr: ['badge'] } }],
    ['scopes as a string', { scopes: 'api1' }],
    ['scopes that are not strings', { scopes: ['api1', 7] }],
    ['an unknown member', { scopes: ['api1'], subjcet: { sub: '1', amr: ['badge'] } }],
    ['a subject without sub', { scopes: ['api1'], subject: { amr: ['badge'] } }],
    ['a subject with an empty sub', { scopes: ['api1'], subject: { sub: '', amr: ['badge'] } }],
    ['a subject with a number for sub', { scopes: ['api1'], subject: { sub: 1, amr: ['badge'] } }],
    ['a subject without amr', { scopes: ['api1'], subject: { sub: '1' } }],
    ['a subject with an empty amr', { scopes: ['api1'], subject: { sub: '1', amr: [] } }],
    ['a subject with an extra member', { scopes: ['api1'], subject: { sub: '1', amr: ['badge'], role: 'admin' } }],
    ['a lifetime of 0', { scopes: ['api1'], issue: { lifetime: 0 } }],
    ['a lifetime of a fraction', { scopes: ['api1'], issue: { lifetime: 1.5 } }],
    ['an infinite lifetime', { scopes: ['api1'], issue: { lifetime: Number.POSITIVE_INFINITY } }],
    ['another token format', { scopes: ['api1'], issue: { accessToken: 'opaque' } }],
    ['a forced refresh token', { scopes: ['api1'], issue: { refreshToken: true } }],
    ['a forged redemption', { scopes: ['api1'], redeems: [{}] }],
    ['a forged continuation', { scopes: ['api1'], continues: {} }],
    ['claims in an array', { scopes: ['api1'], claims: ['x'] }],
    ['claims that are not JSON', { scopes: ['api1'], claims: { big: 1n } }],
    ['response members that are not JSON', { scopes: ['api1'], response: { big: 1n } }],
  ])('3.52 by returning %s: server_error', async (_, result) => {
    const f = await start(() => result)
    const { status, headers, body } = await present(f)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(headers.get('retry-after')).toBeNull()
    expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
  })

  test.each([
    ['nothing', undefined, 'grant_result_missing', 'no result'],
    ['null', null, 'grant_result_missing', 'no result'],
    ['a token', 'a-token', 'grant_result_malformed', 'a malformed result: not an object'],
    ['a user instead of a subject', { sub: 'alice', scopes: [] }, 'grant_result_malformed', 'a malformed result: sub'],
    ['no scopes', {}, 'grant_result_malformed', 'a malformed result: scopes'],
  ])('3.70 by returning %s: server_error, with a reason', async (_, result, reason, mistake) => {
    const f = await start(() => result)
    const { status, body } = await present(f)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    const message = `The grant ${grantType} returned ${mistake}; a result is { subject: { sub, amr }, scopes, … }`
    const failure = { type: 'unhandled_failure', reason, cause: { name: 'TypeError', message } }
    expect(f.events.slice(-2)).toMatchObject([failure, { type: 'endpoint_failed', status: 500, reason }])
  })

  test.each(['access_token', 'token_type', 'expires_in', 'scope', 'refresh_token', 'id_token', 'error'])(
    '3.8 the standard member %s of the response cannot be set',
    async (member) => {
      const f = await start(() => ({ scopes: ['api1'], response: { fine: true, [member]: 'mine' } }))
      const { status, body } = await present(f)
      expect(status).toBe(500)
      expect(body).toEqual({ error: 'server_error' })
    },
  )

  test.each([
    ['was not requested', ['api1', 'profile']],
    ['does not exist', ['api1', 'api9']],
    ['the client may not have', ['api1', 'email']],
    ['needs a subject', ['api1', 'offline_access']],
  ])('3.12 cannot grant a scope that %s', async (_, scopes) => {
    const f = await start(() => ({ scopes }))
    const { status, body } = await present(f, scopes.includes('offline_access') ? 'api1 offline_access' : 'api1')
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
  })
})
