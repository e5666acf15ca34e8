import { freshKey, recordOf } from './keys.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

/** What looks like something else, or does not fit somewhere. JSON writes a lone surrogate as an escape, so that it is plain text on the way. */
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

/** Text that is no record. The core writes none; a driver that gives back something else than it got is none the less not to be trusted. */
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
    name: 'gives back every value as it was written',
    async examine(bench) {
      const driver = await bench.open()
      for (const value of inner) {
        const [set, inserted] = [freshKey(), freshKey()]
        const written = recordOf(value)
        await driver.set(set, written)
        await driver.insert(inserted, written)
        for (const key of [set, inserted]) {
          const found = await driver.get(key)
          if (!isSame(found, written))
            bench.broken(`a record of ${shown(value)} should come back and ${shown(found)} did`)
        }
      }
      for (const text of bare) {
        const key = freshKey()
        if ((await bench.attempt(() => driver.set(key, text))) === undefined) continue
        const found = await driver.get(key)
        if (!isSame(found, text)) {
          bench.broken(
            `the text ${shown(text)} should come back, or the value that it is in JSON, and ${shown(found)} did`,
          )
        }
      }
      if ('polluted' in {}) bench.broken('reading a value with __proto__ in it has changed every object of the program')
    },
  },
]
