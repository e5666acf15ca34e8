import type { EndpointName } from '@grantry/core'
import { read, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const good = `grant_type=client_credentials&scope=api1&client_id=${web[0]}&client_secret=${web[1]}`
const bytes = (...parts: readonly (string | number)[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])))

const post = async (f: Fixture, body: BodyInit, endpoint: EndpointName = 'token'): Promise<TestResponse> =>
  read(
    await f.provider.handlers[endpoint](
      new Request('https://id.example.com/x', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ),
  )

const malformed = [
  '%',
  '%2',
  '%zz',
  '%2 5',
  '% 41',
  '%u0041',
  'a%',
  '%%',
  '%C3',
  '%FF',
  '%C0%AF',
  '%ED%A0%80',
  '%F5%80%80%80',
]

describe('encoding of parameters', () => {
  test.each(malformed)('1.10 rejects the percent-encoding %j in a value', async (value) => {
    const f = await fixture()
    const { status, body } = await post(f, `${good}&x=${value}`)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'malformed_encoding' })
  })

  test.each(malformed)('1.10 rejects the percent-encoding %j in a name', async (name) => {
    const { status, body } = await post(await fixture(), `${good}&${name}=x`)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['a byte that never occurs in UTF-8', [0xff]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a truncated sequence', [0xc3]],
    ['Latin-1', [0xe9]],
  ] as const)('1.10 rejects raw bytes that are not UTF-8: %s', async (_, raw) => {
    const f = await fixture()
    const { status, body } = await post(f, bytes(`${good}&x=`, ...raw))
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'malformed_encoding' })
  })

  test.each(['token', 'identityTokenValidation', 'userinfo', 'accessTokenValidation'] as const)(
    '1.10 rejects malformed encoding in a form of %s',
    async (endpoint) => {
      const { status, body } = await post(await fixture(), 'token=%zz&client_id=web', endpoint)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    },
  )

  test.each(['accessTokenValidation', 'identityTokenValidation'] as const)(
    '1.10 rejects malformed encoding in a query of %s',
    async (endpoint) => {
      const { provider } = await fixture()
      for (const value of ['%zz', '%FF', '%']) {
        const request = new Request(`https://id.example.com/x?client_id=web&token=${value}`)
        const { status, body } = await read(await provider.handlers[endpoint](request))
        expect([status, body.error], value).toEqual([400, 'invalid_request'])
      }
    },
  )

  test('1.10 decodes UTF-8 percent-encoded and raw, split anywhere', async () => {
    const seen: string[] = []
    const f = await fixture({
      users: {
        authenticate: ({ username }) => {
          seen.push(username)
          return { sub: '1' }
        },
      },
    })
    const start = good.replace('client_credentials', 'password')
    const complete = bytes(`${start}&password=p+%2B%20q&username=`, 0xf0, 0x9f, 0x94, 0x91, '%F0%9F%94%91+%e2%82%AC')
    for (const at of [complete.length - 22, complete.length - 21, complete.length - 17, complete.length - 4]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(complete.slice(0, at))
          controller.enqueue(complete.slice(at))
          controller.close()
        },
      })
      const init: RequestInit & { duplex: 'half' } = {
        method: 'POST',
        body,
        duplex: 'half',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      const response = await f.provider.handlers.token(new Request('https://id.example.com/x', init))
      expect(response.status).toBe(200)
    }
    expect(seen).toEqual(Array(4).fill('🔑🔑 €'))
  })
})
