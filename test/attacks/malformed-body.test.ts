/**
 * Attack: bodies that are too large, lie about their length, never end, are aborted, have another type, or have an
 * encoding that two parsers decode differently (overlong UTF-8, half a percent sign), to exhaust or crash the server,
 * or to smuggle a value past a filter.
 *
 * RFC 6749 appendix B (form encoding, UTF-8), RFC 3629 section 3 (overlong sequences and surrogates MUST be refused).
 * That the limit counts bytes instead of trusting the header is hardening.
 */

import { basic, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'

const limit = 65_536
const formType = 'application/x-www-form-urlencoded'
const good = 'grant_type=client_credentials&scope=api1'
const padded = (length: number): string => `${good}&x=${'a'.repeat(length - good.length - 3)}`

interface Sent {
  readonly body: BodyInit
  readonly headers?: Record<string, string>
  readonly path?: string
}
async function send(f: Fixture, { body, headers = {}, path = '/connect/token' }: Sent) {
  const init = {
    method: 'POST',
    headers: { 'content-type': formType, authorization: basic(path.endsWith('introspect') ? api1 : web), ...headers },
    body,
    duplex: 'half',
  }
  const response = await read(await f.provider.fetch(new Request(`https://id.example.com${path}`, init as RequestInit)))
  expect(response.headers.get('cache-control')).toBe('no-store')
  return response
}
const withType = (type: string, body: BodyInit = good): Sent => ({ body, headers: { 'content-type': type } })

/** A body of the given number of chunks that counts how many were read. */
function stream(piece: Uint8Array, pieces: number, end: 'close' | 'error' = 'close') {
  let taken = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken < pieces) {
          taken += 1
          controller.enqueue(piece)
        } else if (end === 'close') controller.close()
        else controller.error(new Error('the caller hung up: hunter2'))
      },
    },
    { highWaterMark: 0 },
  )
  return { body, taken: () => taken }
}

describe('size', () => {
  test.each([limit - 1, limit])('accepts %i bytes', async (length) => {
    expect((await send(await fixture(), { body: padded(length) })).status).toBe(200)
  })

  test.each([limit + 1, 10 * limit])('rejects %i bytes', async (length) => {
    expect(await send(await fixture(), { body: padded(length) })).toMatchObject({
      status: 413,
      body: { error: 'invalid_request', error_description: 'The body is too large' },
    })
  })

  test.each([
    '/connect/introspect',
    '/connect/userinfo',
    '/connect/accesstokenvalidation',
    '/connect/identitytokenvalidation',
  ])('applies the limit at %s', async (path) => {
    const f = await fixture()
    expect((await send(f, { body: `token=x&x=${'a'.repeat(limit)}`, path })).status).toBe(413)
  })

  test('ignores an announced length that is too low', async () => {
    const { body } = stream(Buffer.from(padded(limit)), 2)
    expect((await send(await fixture(), { body, headers: { 'content-length': '10' } })).status).toBe(413)
  })

  test.each(['-1', '1e9', '0x10', 'NaN', '99999999999999999999'])('a length of %s has no effect', async (length) => {
    const response = await send(await fixture(), { body: good, headers: { 'content-length': length } })
    expect([200, 400, 413]).toContain(response.status)
  })

  test('stops reading an endless body as soon as the limit is exceeded', async () => {
    const { body, taken } = stream(new Uint8Array(1024).fill(97), Number.POSITIVE_INFINITY)
    expect((await send(await fixture(), { body })).status).toBe(413)
    expect(taken()).toBeLessThanOrEqual(limit / 1024 + 2)
  })

  test('multi-byte characters count as bytes', async () => {
    expect((await send(await fixture(), { body: `${good}&x=${'€'.repeat(limit / 2)}` })).status).toBe(413)
  })

  test('rejects a query over the limit', async () => {
    const f = await fixture()
    const request = new Request(`https://id.example.com/connect/accesstokenvalidation?token=${'a'.repeat(limit)}`)
    expect((await f.provider.fetch(request)).status).toBe(414)
  })

  test('joins a thousand chunks of one byte', async () => {
    const bytes = Buffer.from(padded(1000))
    let at = 0
    const body = new ReadableStream({
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.subarray(at, ++at))
        else controller.close()
      },
    })
    expect((await send(await fixture(), { body })).status).toBe(200)
  })
})

test('rejects an aborted body, and does not show the cause', async () => {
  const { body } = stream(Buffer.from(good), 1, 'error')
  expect(await send(await fixture(), { body })).toMatchObject({
    status: 400,
    body: { error: 'invalid_request', error_description: 'The body could not be read' },
  })
})

describe('media type', () => {
  test.each([
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'text/plain; application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded, application/json',
    'application/json, application/x-www-form-urlencoded',
    'application/x-www-form-urlencodedx',
    'application/x-www-form-urlencoded+json',
    'x-www-form-urlencoded',
    '*/*',
    ';',
    '',
  ])('rejects %j', async (type) => {
    expect(await send(await fixture(), withType(type))).toMatchObject({
      status: 415,
      body: { error: 'invalid_request' },
    })
  })

  test.each([`${formType}; charset=utf-8`, `${formType};charset=utf-7`, formType.toUpperCase(), ` ${formType} ;x=y`])(
    'accepts %j as a form in UTF-8',
    async (type) => {
      expect((await send(await fixture(), withType(type))).status).toBe(200)
    },
  )

  test('rejects a form without a type, and a type without a form', async () => {
    const f = await fixture()
    const untyped = new Request('https://id.example.com/connect/token', { method: 'POST', body: Buffer.from(good) })
    expect((await f.provider.fetch(untyped)).status).toBe(415)
    expect((await send(f, withType('application/json', '{"grant_type":"client_credentials"}'))).status).toBe(415)
  })
})

describe('encoding', () => {
  test.each([
    '%',
    '%2',
    '%zz',
    '%u0041',
    '%-1',
    '%c3',
    '%c3%28',
    '%ff',
    '%c0%80',
    '%e0%80%af',
    '%ed%a0%80',
    '%f4%90%80%80',
    '%fe%ff',
  ])('rejects %s as a value or a name', async (text) => {
    const f = await fixture()
    for (const extra of [`x=${text}`, `${text}=x`, `scope=${text}`]) {
      expect(await send(f, { body: `grant_type=client_credentials&${extra}` })).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
    }
  })

  test.each<[string, Uint8Array]>([
    ['a lone continuation byte', Buffer.from([0x80])],
    ['a byte that never occurs in UTF-8', Buffer.from([0xff])],
    ['NUL as two bytes', Buffer.from([0xc0, 0x80])],
    ['a slash as two bytes', Buffer.from([0xc0, 0xaf])],
    ['half a surrogate pair', Buffer.from([0xed, 0xa0, 0x80])],
    ['Latin-1', Buffer.from('é', 'latin1')],
    ['a truncated sequence', Buffer.from([0xe2, 0x82])],
  ])('rejects %s, not escaped', async (_, bytes) => {
    const body = Buffer.concat([Buffer.from(`${good}&x=`), bytes])
    expect(await send(await fixture(), { body })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  test.each<[string, Buffer<ArrayBuffer>]>([
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['a byte order mark before it', Buffer.from(`\ufeff${good}`)],
    ['JSON', Buffer.from('{"grant_type":"client_credentials","scope":"api1"}')],
    ['an escaped form', Buffer.from(encodeURIComponent(good))],
    ['separators only', Buffer.from('&&&===&')],
    ['nothing', Buffer.alloc(0)],
  ])('%s is a form without a grant type', async (_, body) => {
    expect(await send(await fixture(), { body })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})
