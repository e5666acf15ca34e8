import { isOAuthError, OAuthError, type OAuthErrorOptions } from '@grantry/core'
import { createTestProvider, read, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const url = 'https://id.example.com/x'
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const grantForm = { grant_type: 'client_credentials', scope: 'api1' }

const brokenStream = (error: unknown): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('grant_type='))
      controller.error(error)
    },
  })

/**
 * A handler's promise never rejects: a host that awaits it without its own catch must not crash because of a request.
 */
describe('handlers never reject', () => {
  test.each(['token', 'identityTokenValidation', 'userinfo', 'accessTokenValidation', 'introspection'] as const)(
    'an aborted body is an error response at %s',
    async (endpoint) => {
      const { provider, events } = await fixture()
      for (const error of [new Error('connection reset'), 'gone', undefined]) {
        const init: RequestInit & { duplex: 'half' } = {
          method: 'POST',
          body: brokenStream(error),
          headers: formType,
          duplex: 'half',
        }
        const { status, body } = await read(await provider.handlers[endpoint](new Request(url, init)))
        expect([status, body.error]).toEqual([400, 'invalid_request'])
        expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'body_unreadable' })
      }
    },
  )

  test('a body that was already read is an error response', async () => {
    const { provider } = await fixture()
    const request = new Request(url, { method: 'POST', body: new URLSearchParams(grantForm) })
    await request.text()
    expect((await provider.handlers.token(request)).status).toBe(400)
  })

  test('ignores an observer that throws', async () => {
    const f = await fixture({
      observe: () => {
        throw new Error('the log is full')
      },
    })
    expect((await f.post('token', grantForm, web)).status).toBe(200)
    expect((await f.post('token', {})).status).toBe(401)
    expect((await f.get('userinfo')).status).toBe(401)
  })

  // An async function is assignable to the observer type. An unhandled rejection ends a Node.js process.
  test('ignores an observer that rejects', async () => {
    const unhandled: unknown[] = []
    // The listeners of the test runner would end the run.
    const listeners = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (reason) => unhandled.push(reason))
    try {
      const f = await fixture({ observe: () => Promise.reject(new Error('the log is full')) })
      expect((await f.post('token', grantForm, web)).status).toBe(200)
      // Node.js reports unhandled rejections at the end of an event loop turn.
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const listener of listeners) process.on('unhandledRejection', listener)
    }
  })

  test('a failed CORS lookup yields a response without CORS', async () => {
    const find = () => undefined
    for (const isOriginAllowed of [() => Promise.reject(new Error('down')), (): never => expect.unreachable()]) {
      const f = await fixture({ clients: { find, isOriginAllowed } })
      const headers = { origin: 'https://web.example.com' }
      const { status, headers: answered } = await f.get('userinfo', {}, headers)
      expect(status).toBe(401)
      expect(answered.get('access-control-allow-origin')).toBeNull()
      expect(f.events.at(-2)).toMatchObject({ type: 'unhandled_failure', reason: 'cors_lookup_failed' })
      const preflight = { ...headers, 'access-control-request-method': 'GET' }
      const response = await f.provider.handlers.userinfo(new Request(url, { method: 'OPTIONS', headers: preflight }))
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  const copy = (details: unknown): Error =>
    Object.assign(new Error('from another copy'), {
      [Symbol.for('grantry.OAuthError')]: true,
      code: 'invalid_grant',
      details,
    })

  test.each<[string, unknown]>([
    ['no details', copy(undefined)],
    ['a status that HTTP does not define', copy({ reason: 'x', status: 1000 })],
    [
      'a header that HTTP does not allow',
      new OAuthError('invalid_grant', 'No', { reason: 'x', allow: 'GET\nX-Evil: 1' }),
    ],
  ])('a refusal that cannot be turned into a response is a 500: %s', async (_, thrown) => {
    expect(isOAuthError(thrown)).toBe(true)
    const grant = testGrant({
      grantType: 'torn',
      handle: () => {
        throw thrown
      },
    })
    const f = await createTestProvider({ plugins: [grant] })
    const { status, body, headers } = await f.post('token', { grant_type: 'torn', scope: 'api1' }, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(headers.get('x-evil')).toBeNull()
  })

  test('recognizes a refusal of another copy of this package by its brand', async () => {
    const details: OAuthErrorOptions = { reason: 'plugin:torn:copy' }
    const grant = testGrant({
      grantType: 'torn',
      handle: () => {
        throw copy(details)
      },
    })
    const f = await createTestProvider({ plugins: [grant] })
    const { status, body } = await f.post('token', { grant_type: 'torn', scope: 'api1' }, testClient)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: 'from another copy' })
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:torn:copy' })
  })
})
