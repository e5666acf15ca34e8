/**
 * Attack: a grant refuses with text from the caller (a quoted user name, a request header) that contains line breaks,
 * quotes and attribute names, so that the response gets an extra header, a second challenge attribute or broken JSON;
 * or it throws values that are not errors, so that the handler itself rejects and the host shows a stack.
 *
 * RFC 6749 section 5.2 and RFC 6750 section 3 limit error and error_description to %x20-21 / %x23-5B / %x5D-7E. That a
 * handler never rejects is hardening.
 */

import { defineGrant, type Grant, OAuthError, type OAuthErrorCode, type OAuthErrorOptions } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

const grantType = 'urn:example:refusing'
const hostile = 'a"b\\c\r\nx-injected: 1\r\n\r\n<script>\u0000\u007f\u2028é", scope="admin'
const allowedText = /^[\x20-\x21\x23-\x5B\x5D-\x7E]*$/u

async function refusal(thrown: unknown, params: v.GenericSchema = v.object({}), sent: Record<string, string> = {}) {
  const plugin = defineGrant({
    grantType,
    params,
    handle: () => {
      throw thrown
    },
  }) as Grant
  const t = await createTestProvider({ plugins: [plugin] })
  const response = await t.post('token', { grant_type: grantType, scope: 'api1', ...sent }, testClient)
  expect(response.headers.has('x-injected')).toBe(false)
  return response
}

const error = (code: string, text: string, details: object = {}) =>
  new OAuthError(code as OAuthErrorCode, text, { reason: 'plugin:refusing:test', ...details } as OAuthErrorOptions)

describe('text of the caller in a refusal', () => {
  test('is stripped to what RFC 6749 allows', async () => {
    const { status, body } = await refusal(error('invalid_grant', hostile))
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(body.error_description).toMatch(allowedText)
    expect(body.error_description).toContain('abc')
  })

  test('as the scope of a challenge adds no attribute and no header', async () => {
    const { status, headers } = await refusal(error('insufficient_scope', hostile, { scope: hostile }))
    expect(status).toBe(403)
    expect([...headers.values()].join('\n')).not.toContain('admin"')
  })

  test.each<[string, object]>([
    ['Allow', { allow: 'GET\r\nx-injected: 1' }],
    ['Retry-After', { retryAfter: '1\r\nx-injected: 1' }],
  ])('in %s adds no header, and gets a response', async (_, details) => {
    const { status } = await refusal(error('invalid_request', 'No', details))
    expect(status).toBeGreaterThanOrEqual(400)
  })

  test('as the name of a parameter is stripped too', async () => {
    const open = v.objectWithRest({}, v.pipe(v.string(), v.maxLength(5)))
    const { status, body } = await refusal(undefined, open, { [hostile]: 'too-long' })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_request')
    expect(body.error_description).toMatch(allowedText)
  })
})

describe('values that are not refusals', () => {
  const branded = Object.assign(new Error('from another copy'), { [Symbol.for('grantry.OAuthError')]: true })
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'hunter2'],
    ['a symbol', Symbol('hunter2')],
    ['a Response', new Response('hunter2', { status: 200 })],
    ['an object with a code', { code: 'invalid_grant', message: 'hunter2' }],
    ['an error without a prototype', Object.create(null)],
    ['an error of another copy of the package, without details', branded],
  ])('a thrown value that is %s is a 500 and not shown', async (_, thrown) => {
    const { status, body, headers } = await refusal(thrown)
    expect({ status, body }).toEqual({ status: 500, body: { error: 'server_error' } })
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test.each([0, 99, 101, 200, 204, 304, 600, Number.NaN])(
    'an error with the status %s still gets a response',
    async (status) => {
      const response = await refusal(error('invalid_grant', 'No', { status }))
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(600)
    },
  )

  test.each(['__proto__', 'constructor', 'toString', 'made_up', 'a\r\nx-injected: 1', 'a", scope="admin'])(
    'an error with the code %j gets a response within the character set',
    async (code) => {
      const { status, body } = await refusal(error(code, 'No'))
      expect(status).toBeGreaterThanOrEqual(400)
      expect(body.error).toMatch(allowedText)
    },
  )
})
