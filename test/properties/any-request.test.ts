import type { EndpointName } from '@grantry/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { fixture } from '../support/fixture.ts'
import { isLong } from '../support/rounds.ts'

const posting: readonly EndpointName[] = [
  'token',
  'identityTokenValidation',
  'userinfo',
  'accessTokenValidation',
  'introspection',
]
const names = ['grant_type', 'scope', 'client_id', 'client_secret', 'token', 'access_token', 'code', '__proto__', 'x']
const values = [
  'client_credentials',
  'web',
  'web-secret',
  'api1',
  'openid',
  '',
  '%zz',
  '%FF',
  'a.b.c',
  '..',
  'é',
  '%00',
]
const form = fc
  .array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...values)), { maxLength: 8 })
  .map((pairs) => new TextEncoder().encode(pairs.map(([key, value]) => `${key}=${value}`).join('&')))
const body = fc.oneof(form, fc.uint8Array({ maxLength: 200 }))
// The characters that a Request accepts in a header.
const header = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) })
const authorization = fc.oneof(
  fc.constant(undefined),
  header,
  fc.constantFrom('Basic', 'Bearer', 'Basic ', 'Bearer a.b.c', 'Bearer e30.e30.', `Basic ${btoa('web:web-secret')}`),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => `Basic ${Buffer.from(bytes).toString('base64')}`),
)

// Attack: a client causes unhandled failures, which alert operators and fill disks.
describe('any request', () => {
  test.each(posting)('a POST to %s succeeds or gets an error, and is never a failure', async (endpoint) => {
    const { provider } = await fixture()
    await fc.assert(
      fc.asyncProperty(body, authorization, async (bytes, credentials) => {
        const request = new Request('https://id.example.com/x', {
          method: 'POST',
          body: new Uint8Array(bytes),
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            ...(credentials !== undefined && { authorization: credentials }),
          },
        })
        const response = await provider.handlers[endpoint](request)
        expect(response.status).toBeLessThan(500)
        expect(response.headers.get('cache-control')).toBe('no-store')
        if (response.status !== 200) await expectRefusal(response)
      }),
      { numRuns: isLong ? 10_000 : 100 },
    )
  })

  test.each(['userinfo', 'identityTokenValidation', 'accessTokenValidation'] as const)(
    'a GET of %s succeeds or gets an error, and is never a failure',
    async (endpoint) => {
      const { provider } = await fixture()
      const part = fc.oneof(fc.constantFrom(...names, ...values), fc.string({ unit: anyCharacter, maxLength: 10 }))
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(part, part)), authorization, async (pairs, credentials) => {
          const url = `https://id.example.com/x?${pairs.map(([key, value]) => `${key}=${value}`).join('&')}`
          const headers = credentials === undefined ? {} : { authorization: credentials }
          const response = await provider.handlers[endpoint](new Request(url, { headers }))
          expect(response.status).toBeGreaterThanOrEqual(400)
          expect(response.status).toBeLessThan(500)
          await expectRefusal(response)
        }),
        { numRuns: isLong ? 10_000 : 100 },
      )
    },
  )
})

async function expectRefusal(response: Response): Promise<void> {
  const text = await response.text()
  // Without credentials, userinfo returns only a challenge.
  if (text === '')
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.any(String)])
  else expect(JSON.parse(text)).toEqual({ error: expect.any(String), error_description: expect.any(String) })
}
