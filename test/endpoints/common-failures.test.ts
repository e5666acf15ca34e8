import { OAuthError } from '@grantry/core'
import { createTestProvider, type TestResponse, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const secretText = 'SELECT * FROM users; password=hunter2'
const broken = (): never => {
  throw new Error(secretText)
}
const rejecting = async (): Promise<never> => broken()

function expectServerError({ status, body, headers }: TestResponse, f: Pick<Fixture, 'events'>): void {
  expect(status).toBe(500)
  expect(body).toEqual({ error: 'server_error' })
  expect(headers.get('content-type')).toBe('application/json')
  expect([...headers].join()).not.toContain('hunter2')
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 500, error: 'server_error' })
  const failures = f.events.filter((event) => event.type === 'unhandled_failure')
  expect(failures).toHaveLength(1)
  expect(failures[0]?.cause).toMatchObject({ name: expect.any(String), message: expect.any(String) })
}

const passwordForm = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid profile' }

/** Returns a token from a provider that works, for a provider whose user service then fails. */
async function tokenThenBreak(part: 'isActive' | 'claims', how: () => never | Promise<never>) {
  let intact = true
  const f = await fixture({
    users: {
      authenticate: () => ({ sub: '1' }),
      [part]: () => (intact ? (part === 'isActive' ? true : {}) : how()),
    },
  })
  const form = { ...passwordForm, scope: 'openid profile api1' }
  const { body } = await f.post('token', form, web)
  intact = false
  return { f, token: body.access_token as string }
}

describe('unexpected failures', () => {
  test.each([
    ['throws', broken],
    ['rejects', rejecting],
  ] as const)('1.20 a user service that %s is a 500 without detail', async (_, authenticate) => {
    const f = await fixture({ users: { authenticate } })
    expectServerError(await f.post('token', passwordForm, web), f)
    expect(f.events.find((event) => event.type === 'unhandled_failure')).toMatchObject({
      cause: { message: secretText },
      clientId: web[0],
      endpoint: 'token',
    })
  })

  test.each([
    ['throws', broken],
    ['rejects', rejecting],
  ] as const)('1.20 a client store whose find %s is a 500 without detail', async (_, find) => {
    const f = await fixture({ clients: { find } })
    expectServerError(await f.post('token', passwordForm, web), f)
  })

  test.each([
    ['userinfo', 'claims', broken],
    ['userinfo', 'isActive', rejecting],
    ['introspection', 'isActive', rejecting],
    ['accessTokenValidation', 'isActive', broken],
  ] as const)('1.20 at %s a failing %s is a 500 without detail', async (endpoint, part, how) => {
    const { f, token } = await tokenThenBreak(part, how)
    const response =
      endpoint === 'userinfo'
        ? await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
        : await f.post(endpoint, { token }, endpoint === 'introspection' ? api1 : undefined)
    expectServerError(response, f)
  })

  test('1.20 identity token validation with a failing user service is a 500 without detail', async () => {
    let intact = true
    const f = await fixture({ users: { authenticate: () => undefined, isActive: () => intact || broken() } })
    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { body } = await f.post('token', form, web)
    intact = false
    expectServerError(await f.post('identityTokenValidation', { token: body.id_token, client_id: web[0] }), f)
  })

  test.each([
    ['an error', new Error(secretText)],
    ['a text', secretText],
    ['nothing', undefined],
    ['null', null],
    ['an object that looks like a refusal', { code: 'invalid_grant', message: secretText, details: { reason: 'x' } }],
  ])('1.20 a plugin that throws %s is a 500 without detail', async (_, thrown) => {
    const handle = (): never => {
      throw thrown
    }
    const f = await createTestProvider({ plugins: [testGrant({ grantType: 'torn', handle })] })
    const { status, body, failure } = await f.post('token', { grant_type: 'torn', scope: 'api1' }, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    const event = f.events.find(({ type }) => type === 'unhandled_failure')
    const message = thrown === undefined || thrown === null ? String(thrown) : secretText
    expect(event).toMatchObject({ reason: 'unhandled_failure', cause: { message } })
    expect(failure).toBe(thrown)
  })

  test('1.20 the message of a server_error of a plugin is not shown either', async () => {
    const handle = (): never => {
      throw new OAuthError('server_error', secretText, { reason: 'plugin:torn:broken' })
    }
    const f = await createTestProvider({ plugins: [testGrant({ grantType: 'torn', handle })] })
    const response = await f.post('token', { grant_type: 'torn', scope: 'api1' }, testClient)
    expectServerError(response, f)
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:torn:broken' })
  })

  test('1.20 a failure does not affect the next request', async () => {
    let intact = false
    const f = await fixture({ users: { authenticate: () => (intact ? { sub: '1' } : broken()) } })
    expect((await f.post('token', passwordForm, web)).status).toBe(500)
    intact = true
    expect((await f.post('token', passwordForm, web)).status).toBe(200)
  })
})
