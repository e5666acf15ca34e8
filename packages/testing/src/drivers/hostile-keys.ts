import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'

/** Keys that some stores cut, fold, hide or treat as a path. Similar keys are easily confused with each other. */
export function hostileKeys(stem: string): readonly string[] {
  return [
    stem,
    ...[
      '?',
      '?ttl=1',
      '$',
      '/',
      '/leaf',
      '\\leaf',
      ':',
      ':leaf',
      '::leaf',
      ' ',
      '.',
      '*',
      '%2f',
      '%00',
      '\0',
      '\r\n',
      '#',
    ].map((ending) => stem + ending),
    ...['/..', '/../', ':..', ':.', '/./leaf', ':..:leaf'].map((path) => stem + path),
    ...[':', '/', '../', '..:', './', ' '].map((beginning) => beginning + stem),
    `${stem}-upper-lower`,
    `${stem}-UPPER-LOWER`,
    // Composed and decomposed, astral, right-to-left, and names reserved by objects or operating systems.
    ...['\u00e9', 'e\u0301', '\u{1f511}', '\u202e', '\u2028'].map((letter) => `${stem}-${letter}`),
    ...['__proto__', 'constructor', 'con', '{tag}', '[a-z]'].map((name) => `${stem}-${name}`),
    `${stem}:${'0123456789abcdef'.repeat(4)}`,
    `${stem}:${'0123456789abcdef'.repeat(4).toUpperCase()}`,
    `${stem}:`.padEnd(200, 'x'),
    `${stem}:`.padEnd(199, 'x'),
  ]
}

type Write = (driver: Operations, key: string) => Promise<boolean>

const set: Write = async (driver, key) => {
  await driver.set(key, recordOf(key))
  return true
}
const insert: Write = (driver, key) => driver.insert(key, recordOf(key))

/** Returns the keys that the driver accepted. It may also reject keys. */
async function acceptedKeys(
  context: ProofContext,
  driver: Operations,
  keys: readonly string[],
  write: Write,
): Promise<string[]> {
  const outcomes = await Promise.all(
    keys.map(async (key) => ({ key, created: (await context.attempt(() => write(driver, key)))?.value })),
  )
  for (const { key, created } of outcomes) {
    if (created !== false) continue
    context.fail(`insertItem(${abbreviate(key)}) should return true or reject, since only similar keys were written`)
  }
  return outcomes.flatMap(({ key, created }) => (created === true ? [key] : []))
}

async function assertSeparate(context: ProofContext, driver: Operations, write: Write): Promise<void> {
  const keys = await acceptedKeys(context, driver, hostileKeys(freshKey().slice(0, 24)), write)
  const assertStored = async (key: string): Promise<void> => {
    const stored = await driver.get(key)
    if (isSameValue(stored, recordOf(key))) return
    context.fail(`${abbreviate(key)} should be rejected or have its own value, but has ${abbreviate(stored)}`)
  }
  await Promise.all(keys.map(assertStored))
  // Remove every other key, so that each has a similar one that stays.
  const [removed, remaining] = [0, 1].map((rest) => keys.filter((_, index) => index % 2 === rest)) as [
    string[],
    string[],
  ]
  await Promise.all(removed.map((key) => driver.remove(key)))
  const values = await Promise.all(removed.map((key) => driver.get(key)))
  for (const [index, key] of removed.entries()) {
    if (values[index] !== undefined) context.fail(`${abbreviate(key)} should be gone after removeItem()`)
  }
  await Promise.all(remaining.map(assertStored))
}

/** Checks that a key that was never written does not return the value of a similar one. */
async function assertNotFound(context: ProofContext, driver: Operations): Promise<void> {
  const [stem = '', ...others] = hostileKeys(freshKey().slice(0, 24))
  await driver.set(stem, recordOf(stem))
  await Promise.all(
    others.map(async (key) => {
      const outcome = await context.attempt(() => driver.get(key))
      if (outcome?.value === undefined) return
      context.fail(`getItem(${abbreviate(key)}) should find nothing, but returned the value of ${abbreviate(stem)}`)
    }),
  )
}

export const hostileKeyProofs: readonly Proof[] = [
  {
    name: 'stores every hostile key separately or rejects it',
    async run(context) {
      const driver = await context.open()
      await assertSeparate(context, driver, set)
      await assertSeparate(context, driver, insert)
      await assertNotFound(context, driver)
    },
  },
]
