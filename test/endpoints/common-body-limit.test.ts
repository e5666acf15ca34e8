import { read, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const limit = 65_536
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  scope: 'api1',
  client_id: web[0],
  client_secret: web[1],
}).toString()

/** Returns a valid token request of exactly `bytes` bytes, padded with an unknown parameter. */
const bodyOf = (bytes: number): string => `${form}&x=`.padEnd(bytes, 'x')

const formType = 'application/x-www-form-urlencoded'

async function send(f: Fixture, body: BodyInit, headers: Record<string, string> = {}): Promise<TestResponse> {
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    body,
    headers: { 'content-type': formType, ...headers },
    duplex: 'half',
  }
  return read(await f.provider.handlers.token(new Request('https://id.example.com/connect/token', init)))
}

function streamOf(...chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk)
      }
      controller.close()
    },
  })
}

function expectTooLarge({ status, body, headers }: TestResponse, f: Fixture): void {
  expect(status).toBe(413)
  expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 413, reason: 'body_too_large' })
}

describe('body size limit', () => {
  test('1.9 accepts a body of exactly 64 KiB', async () => {
    expect((await send(await fixture(), bodyOf(limit))).status).toBe(200)
  })

  test('1.9 rejects a body of 64 KiB and one byte with 413', async () => {
    const f = await fixture()
    expectTooLarge(await send(f, bodyOf(limit + 1)), f)
  })

  test('1.9 counts bytes, not characters', async () => {
    const f = await fixture()
    // 40 000 characters, 80 000 bytes.
    expectTooLarge(await send(f, `${form}&x=${'é'.repeat(40_000)}`), f)
  })

  test('1.9 counts a chunked body without a length over all chunks', async () => {
    const f = await fixture()
    const body = bodyOf(limit)
    expect((await send(f, streamOf(body.slice(0, 30_000), body.slice(30_000)))).status).toBe(200)
    expectTooLarge(await send(f, streamOf(body.slice(0, 30_000), body.slice(30_000), 'x')), f)
  })

  test('1.9 a Content-Length that is too low does not lift the limit', async () => {
    const f = await fixture()
    expectTooLarge(await send(f, streamOf(bodyOf(limit + 1)), { 'content-length': '10' }), f)
  })

  test('1.9 ignores an unreadable Content-Length', async () => {
    const f = await fixture()
    expect((await send(f, streamOf(form), { 'content-length': 'NaN' })).status).toBe(200)
  })

  // Attack: an endless body, to fill the server's memory or to hold it forever.
  test('1.9 stops reading an endless body at the limit', async () => {
    const f = await fixture()
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024
        controller.enqueue(new Uint8Array(1024).fill(0x61))
        // Long enough: a reader that consumes all of it fails the assertion below instead of hanging the run.
        if (sent > limit * 4) controller.close()
      },
    })
    expectTooLarge(await send(f, endless), f)
    expect(sent).toBeLessThan(limit * 2)
  })

  test('1.9 the limit is configurable', async () => {
    const f = await fixture({ bodyLimit: 300 })
    expect((await send(f, bodyOf(300))).status).toBe(200)
    expectTooLarge(await send(f, bodyOf(301)), f)
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    '1.9 rejects the limit %s at start',
    async (bodyLimit) => {
      await expect(fixture({ bodyLimit })).rejects.toThrow(/bodyLimit/u)
    },
  )

  test.each(['identityTokenValidation', 'userinfo', 'accessTokenValidation', 'introspection'] as const)(
    '1.9 applies the limit at %s',
    async (endpoint) => {
      const f = await fixture()
      const headers = { 'content-type': formType }
      const request = new Request('https://id.example.com/x', { method: 'POST', body: bodyOf(limit + 1), headers })
      expectTooLarge(await read(await f.provider.handlers[endpoint](request)), f)
    },
  )

  test('rejects a query beyond the limit with 414', async () => {
    const f = await fixture()
    const { status, body } = await f.get('accessTokenValidation', { token: 'x'.repeat(limit) })
    expect(status).toBe(414)
    expect(body.error).toBe('invalid_request')
  })
})
