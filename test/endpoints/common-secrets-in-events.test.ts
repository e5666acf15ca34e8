import { inspect } from 'node:util'
import type { ClientOptions } from '@grantry/core'
import { mapDriver, read, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, fixture, proof, redirectUri, web, webJwt } from '../support/fixture.ts'

/** Everything in an event, including causes and hidden members of errors: a log hook may print any of it. */
const printed = (value: unknown): string =>
  inspect(value, { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null })

function expectNone(secrets: readonly string[], ...values: readonly unknown[]): void {
  const text = values.map(printed).join('\n')
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(7)
    expect(text).not.toContain(secret)
  }
}

const hexSha256 = (text: string): string => Buffer.from(sha256Of(text), 'base64').toString('hex')
const passwordForm = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

describe('secrets', () => {
  test('1.26 no credential reaches an event, whatever the outcome of the request', async () => {
    const f = await fixture()
    const { verifier: code_verifier, challenge: codeChallenge } = proof
    const code = await f.code({ codeChallenge })
    const codeForm = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const wrongVerifier = 'wrong-verifier-wrong-verifier-wrong-verifier-wrong'
    await f.post('token', { ...codeForm, code_verifier: wrongVerifier }, web)
    const { body: first } = await f.post('token', { ...codeForm, code_verifier }, web)
    const refreshForm = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const { body: second } = await f.post('token', refreshForm, web)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    await f.post('token', refreshForm, web)
    f.clock.advance(60)
    await f.post('token', refreshForm, web)
    await f.post('token', { ...codeForm, code_verifier }, web)
    await f.post('token', { ...passwordForm, client_id: web[0], client_secret: web[1] })
    await f.post('token', { ...passwordForm, client_id: web[0], client_secret: 'wrong-client-secret' })
    await f.post('token', { ...passwordForm, password: 'wrong-password' }, web)
    await f.post('token', { ...passwordForm, password: 'p'.repeat(1025) }, web)
    const { body: jwt } = await f.post('token', passwordForm, webJwt)
    for (const token of [first.access_token, jwt.access_token, first.id_token, 'unknown-token']) {
      await f.post('introspection', { token }, api1)
      await f.post('introspection', { token }, ['api1', 'wrong-scope-secret'])
      await f.post('accessTokenValidation', { token, expectedScope: 'email' })
      await f.post('identityTokenValidation', { token, client_id: web[0] })
      await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
    }
    expect(f.events.length).toBeGreaterThan(60)
    expectNone(
      [
        ...[web[1], webJwt[1], 'wrong-client-secret', api1[1], 'wrong-scope-secret'],
        ...['alice-password', 'wrong-password', 'p'.repeat(1025)],
        ...[code, code_verifier, wrongVerifier, 'unknown-token'],
        ...[first, second, jwt]
          .flatMap((body) => [body.access_token, body.refresh_token, body.id_token])
          .filter(Boolean),
      ],
      f.events,
    )
  })

  test('1.26 no credential appears in an error response', async () => {
    const f = await fixture()
    const secret = 'my-secret-my-secret'
    const responses = [
      await f.post('token', passwordForm, ['web', secret]),
      await f.post('token', { ...passwordForm, grant_type: secret }, web),
      await f.post('token', { ...passwordForm, password: secret }, web),
      await f.post('token', { ...passwordForm, scope: secret }, web),
      await f.post('token', { grant_type: 'refresh_token', refresh_token: secret }, web),
      await f.post('token', { grant_type: 'authorization_code', code: secret, redirect_uri: redirectUri }, web),
      await f.post('token', { ...passwordForm, client_secret: secret }, web),
      await f.post('accessTokenValidation', { token: secret }),
      await f.post('identityTokenValidation', { token: secret, client_id: web[0] }),
      await f.get('userinfo', {}, { authorization: `Bearer ${secret}` }),
      await f.get('userinfo', {}, { authorization: `Basic ${secret}` }),
    ]
    for (const { status, body, headers } of responses) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(JSON.stringify(body) + [...headers].join()).not.toContain(secret)
    }
  })

  test.each(['%zz', '%FF', '&client_secret=other-secret'])(
    '1.26 no credential of a malformed form reaches an event: %s',
    async (rest) => {
      const f = await fixture()
      const body = `client_id=web&client_secret=my-secret-my-secret${rest}`
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const request = new Request('https://id.example.com/x', { method: 'POST', body, headers })
      const response = await read(await f.provider.handlers.token(request))
      expect(response.status).toBe(400)
      expectNone(['my-secret-my-secret', 'other-secret'], f.events, response.body)
    },
  )

  // A user service that returns its whole row is wrong, but what it returns must not reach a log.
  test('1.26 extra data that a user service returns by mistake reaches no event', async () => {
    const row = { sub: '1', passwordHash: 'the-hash-of-a-password' }
    const f = await fixture({ users: { authenticate: () => row } })
    const { body } = await f.post('token', passwordForm, web)
    expectNone(['the-hash-of-a-password', 'alice-password'], f.events, body)
  })

  // A common mistake with a table of clients: the secret itself where its hash belongs.
  test('1.26 does not quote a secret that is configured instead of its hash when it rejects it at start', async () => {
    const secrets = ['my-plain-secret'] as unknown as NonNullable<ClientOptions['secrets']>
    const start = fixture({ clients: [{ clientId: 'web', secrets }] }).catch((error: unknown) => error)
    const error = await start
    expect(error).toBeInstanceOf(TypeError)
    expectNone(['my-plain-secret'], error)
  })

  test('1.26 does not quote a secret that a client store returns instead of its hash', async () => {
    const secrets = ['my-plain-secret'] as unknown as NonNullable<ClientOptions['secrets']>
    const f = await fixture({ clients: { find: () => ({ clientId: 'web', secrets }) } })
    const { status, body } = await f.post('token', passwordForm, web)
    expect(status).toBeGreaterThanOrEqual(400)
    expectNone(['my-plain-secret'], f.events, body)
  })

  test('1.26 stores no credential in plain text', async () => {
    const items = new Map<string, string>()
    const f = await fixture({ storage: mapDriver(items) })
    const code = await f.code()
    const codeForm = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { body: first } = await f.post('token', codeForm, web)
    const { body: second } = await f.post(
      'token',
      { grant_type: 'refresh_token', refresh_token: first.refresh_token },
      web,
    )
    await f.post('token', { ...passwordForm, password: 'wrong-password' }, web)
    expect(items.size).toBeGreaterThan(4)
    const credentials = [first, second].flatMap((body) => [body.access_token, body.refresh_token, body.id_token])
    expectNone([code, web[1], 'alice-password', 'wrong-password', ...credentials], items)
  })

  test('1.27 an event identifies a credential by the first 8 hex digits of its SHA-256', async () => {
    const f = await fixture()
    const code = await f.code()
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { body } = await f.post('token', form, web)
    await f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
    const fingerprints = (type: string) =>
      f.events.flatMap((event) => (event.type === type && 'fingerprint' in event ? [event.fingerprint] : []))
    const fingerprint = (credential: string) => hexSha256(credential).slice(0, 8)
    expect(fingerprints('code_issued')).toEqual([fingerprint(code)])
    expect(fingerprints('code_redeemed')).toEqual([fingerprint(code)])
    expect(fingerprints('refresh_rotated')).toEqual([fingerprint(body.refresh_token)])
    expect(fingerprints('token_issued').slice(0, 2)).toEqual([
      fingerprint(body.access_token),
      fingerprint(body.refresh_token),
    ])
  })
})
