import type { Proof } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'

/**
 * Values that look like another type or exceed a limit. JSON escapes a lone surrogate, so the stored text is
 * well-formed.
 */
const inner: readonly unknown[] = [
  '123456',
  'true',
  'null',
  '1e5',
  '',
  '__proto__',
  '{"version":1}',
  '\0\n\r\t\u001b\u2028"\\',
  'é€😀\u202e',
  '\ud800 and \udc00',
  'x'.repeat(100_000),
  '€'.repeat(40_000),
  null,
  0,
  false,
  [],
  {},
  1e21,
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
]

/** Text that is not a record. The core never writes it, but a driver that changes it is not trustworthy. */
const bare = [
  '123456',
  'true',
  'null',
  '1e5',
  '[]',
  '"quoted"',
  'not JSON',
  '{"__proto__":{"polluted":true}}',
  '€😀',
  'x'.repeat(100_000),
]

export const hostileValues: readonly Proof[] = [
  {
    name: 'returns every value unchanged',
    async run(context) {
      const driver = await context.open()
      for (const value of inner) {
        const [set, inserted] = [freshKey(), freshKey()]
        const written = recordOf(value)
        await driver.set(set, written)
        await driver.insert(inserted, written)
        for (const key of [set, inserted]) {
          const stored = await driver.get(key)
          if (!isSameValue(stored, written))
            context.fail(
              `a record of ${abbreviate(value)} should come back unchanged, but getItem() returned ${abbreviate(stored)}`,
            )
        }
      }
      for (const text of bare) {
        const key = freshKey()
        if ((await context.attempt(() => driver.set(key, text))) === undefined) continue
        const stored = await driver.get(key)
        if (!isSameValue(stored, text)) {
          context.fail(
            `the text ${abbreviate(text)}, or its JSON value, should come back, but getItem() returned ${abbreviate(stored)}`,
          )
        }
      }
      if ('polluted' in {}) context.fail('reading a value that contains __proto__ polluted Object.prototype')
    },
  },
]
