import { defineEndpoint, definePlugin, type Reply } from '@grantry/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { builtInPlugins, fixture } from '../support/fixture.ts'
import { isLong } from '../support/rounds.ts'

const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...'ab:/;, ="\'\\\r\n\u0000é@#?%'), anyCharacter),
  maxLength: 12,
})
const around = (prefix: string, suffix = '') =>
  fc.oneof(
    text,
    text.map((middle) => prefix + middle + suffix),
  )
const source = fc.oneof(
  fc.constantFrom("'self'", 'https://cdn.example.com', 'data:'),
  around('https://cdn.example.com'),
)
const hash = `'sha256-${'a'.repeat(43)}='`
const script = fc.oneof(source, around("'sha256-", "='"), fc.constant(hash))
const sources = fc.record(
  { style: fc.array(source), script: fc.array(script), image: fc.array(source), form: fc.array(source) },
  { requiredKeys: [] },
)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const status = optional(fc.constantFrom(200, 201, 202, 204, 302, 303, 307, 400, 99, 1000))
const cookie = fc.oneof(around('a='), around('a=b; Path=/'), fc.constant('a=b; Secure'))
const cookies = optional(fc.array(cookie, { maxLength: 2 }))
const location = fc.oneof(around('https://web.example.com/'), around('com.example.app:'), fc.webUrl())
const reply = fc.oneof(
  fc.record({ status, cookies }),
  fc.record({ status, cookies, json: fc.jsonValue(), location: optional(location), maxAge: optional(fc.integer()) }),
  fc.record({ status, cookies, html: text, sources: optional(sources) }),
  fc.record({ status, cookies, location }),
)

// Whatever the core accepts, every runtime can send: otherwise, the router's last resort would hide the defect.
test('any reply is sent unchanged, or is a defect with a cause', async () => {
  let next: Reply = {}
  const plugin = definePlugin('any', [
    defineEndpoint({ name: 'any', path: '/any', methods: ['GET'], caller: 'anyone', handle: () => next }),
  ])
  const { provider, events } = await fixture({ plugins: [builtInPlugins, plugin] })
  let sent = 0
  await fc.assert(
    fc.asyncProperty(reply, async (generated) => {
      events.length = 0
      next = generated as Reply
      const response = await provider.fetch(new Request('https://id.example.com/any'))
      if (response.status === 500) {
        expect(events.map((event) => ('reason' in event ? event.reason : ''))).toEqual([
          'unhandled_failure',
          'unhandled_failure',
        ])
        return
      }
      sent += 1
      expect(response.headers.get('location')).toBe(next.location ?? null)
      expect(response.headers.getSetCookie()).toEqual(next.cookies ?? [])
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy.split(';').length).toBeLessThanOrEqual(7)
      const scripts = policy.split('script-src ')[1]?.split(';')[0]?.split(' ') ?? []
      expect(scripts.filter((scriptSource) => scriptSource !== hash)).toEqual([])
      if (next.html !== undefined)
        expect(await response.text()).toBe(new TextDecoder().decode(new TextEncoder().encode(next.html)))
    }),
    { numRuns: isLong ? 20_000 : 1000 },
  )
  expect(sent).toBeGreaterThan(100)
})
