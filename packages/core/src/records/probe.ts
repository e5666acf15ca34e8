import { hex, type Runtime } from '../runtime.ts'
import type { AtomicDriver, DriverItem } from './driver.ts'
import { getValues, withinTime } from './driver-calls.ts'
import type { recoveryKey } from './recover-storage.ts'

/**
 * Converts a stored value to a string.
 *
 * @throws the value itself if it is an error: some drivers return errors instead of throwing them.
 */
function asText(stored: unknown): string | undefined {
  if (stored instanceof Error) throw stored
  if (stored === null || stored === undefined) return undefined
  return typeof stored === 'string' ? stored : JSON.stringify(stored)
}

interface ProbeOutcome {
  readonly atomic: boolean
  readonly keeps: boolean
  readonly joins: boolean
  readonly created: number
  readonly counts: boolean
  readonly forgets: boolean
  readonly compares: boolean
  readonly commits: boolean
}

/** Sequential storage operations of the probe. They determine its time limit. */
const operations = 30

const newKey = (runtime: Runtime): string => `probe:${hex(runtime.randomBytes(32))}`

/**
 * Whether `incrementItem()` works, and `removeItem()` removes a counter. It can fail alone: Redis may forbid scripts, or a wrapper around the driver may not
 * forward it.
 */
async function count(driver: AtomicDriver, runtime: Runtime) {
  const key = newKey(runtime)
  const counted = [await driver.incrementItem(key, { ttl: 60 }), await driver.incrementItem(key, { ttl: 60 })]
  await driver.removeItem(key, {})
  const again = await driver.incrementItem(key, { ttl: 60 })
  await driver.removeItem(key, {})
  return { counts: counted[0] === 1 && counted[1] === 2, forgets: again === 1 }
}

/** Whether of several concurrent calls of `replaceItem()` with one value one writes, and none without that value. */
async function replace(driver: AtomicDriver, runtime: Runtime): Promise<boolean> {
  const key = newKey(runtime)
  const probeValue = (digit: number): string => JSON.stringify({ probe: `${key}${digit}` })
  await driver.insertItem(key, probeValue(0), { ttl: 60 })
  const change = { from: probeValue(0), ttl: 60 }
  const racers = await Promise.all(
    [1, 2, 3, 4].map(async (digit) => (await driver.replaceItem(key, { ...change, to: probeValue(digit) })) === true),
  )
  const stored = asText(await driver.getItem(key))
  const late = await driver.replaceItem(key, { ...change, to: probeValue(5) })
  await driver.removeItem(key, {})
  return racers.filter(Boolean).length === 1 && stored === probeValue(racers.indexOf(true) + 1) && late === false
}

/** Whether of several concurrent calls of `commit()` with one key one writes everything, and the others nothing. */
async function commit(driver: AtomicDriver, runtime: Runtime): Promise<boolean> {
  if (driver.commit === undefined) return true
  const prefix = newKey(runtime).slice(0, -1)
  const item = (digit: number): DriverItem => {
    const key = `${prefix}${digit}`
    return { key, value: JSON.stringify({ probe: key }), ttl: 60 }
  }
  const marker = item(0)
  const removed = item(1)
  const racers = [2, 3, 4, 5].map(item)
  await driver.setItem(removed.key, removed.value, { ttl: 60 })
  const outcomes = await Promise.all(
    racers.map(async (put) => driver.commit?.({ create: [marker], put: [put], remove: [removed.key] })),
  )
  const keys = [marker, removed, ...racers].map(({ key }) => key)
  const [created, left, ...written] = await Promise.all(keys.map(async (key) => asText(await driver.getItem(key))))
  await Promise.all(keys.map(async (key) => driver.removeItem(key, {})))
  const hasWon = outcomes.map((outcome) => outcome === true)
  const isRefused = (outcome: unknown): boolean => Array.isArray(outcome) && outcome.join() === marker.key
  return (
    hasWon.filter(Boolean).length === 1 &&
    outcomes.every((outcome, index) => hasWon[index] || isRefused(outcome)) &&
    written.every((stored, index) => stored === (hasWon[index] ? racers[index]?.value : undefined)) &&
    created === marker.value &&
    left === undefined
  )
}

/** Reads an item, and checks whether `getItems()` returns the same for it, and nothing for an absent item. */
async function read(driver: AtomicDriver, key: string, absent: string) {
  const text = asText(await driver.getItem(key))
  if (driver.getItems === undefined) return { text, isSame: true }
  const [absentText, same] = (await getValues(driver, [absent, key])).map(asText)
  return { text, isSame: absentText === undefined && same === text }
}

/**
 * Keys of items that mark a storage whose copy, or recovery, is not complete: `copyItems()` of `@grantry/storage-drivers` and
 * `recoverStorage()` write them. The next pass of a copy would undo what this service has written; before a recovery, what
 * was spent after the backup could be used again.
 */
const unfinished: Readonly<Record<'copy' | typeof recoveryKey, string>> = {
  copy: 'it is the target of a copy that is not complete; stop the service, and run "grantry storage copy" with --final (docs/guides/storage.md)',
  recovery: 'it is the target of a recovery that is not complete; run "grantry storage recover"',
}

async function operate(driver: AtomicDriver, runtime: Runtime): Promise<ProbeOutcome> {
  await driver.open?.()
  for (const [key, problem] of Object.entries(unfinished)) {
    if (asText(await driver.getItem(key)) !== undefined) throw new Error(problem)
  }
  const key = newKey(runtime)
  const value = JSON.stringify({ probe: key })
  const replacement = JSON.stringify({ probe: 'replaced' })
  // Concurrently: a driver that checks and then writes creates the item more than once.
  const racers = Array.from({ length: 8 }, async () => driver.insertItem(key, value, { ttl: 60 }))
  const created = (await Promise.all(racers)).filter((result) => result === true).length
  const late = await driver.insertItem(key, '{}', { ttl: 60 })
  const absent = newKey(runtime)
  const inserted = await read(driver, key, absent)
  await driver.setItem(key, replacement, { ttl: 60 })
  const replaced = await read(driver, key, absent)
  await driver.removeItem(key, {})
  const removed = await read(driver, key, absent)
  return {
    atomic: created === 1 && late === false,
    keeps: inserted.text === value && replaced.text === replacement && removed.text === undefined,
    joins: [inserted, replaced, removed].every(({ isSame }) => isSame),
    created,
    ...(await count(driver, runtime)),
    commits: await commit(driver, runtime),
    compares: await replace(driver, runtime),
  }
}

/**
 * Opens the storage at startup and checks that it keeps written values, that its insert is atomic, on which single use
 * depends, that its counter counts, that it replaces only an expected value, and, if it has them, that `getItems()` returns what `getItem()` does and that
 * `commit()` writes everything or nothing.
 *
 * @param timeLimit seconds that one operation may take.
 * @throws TypeError with a sentence that says what is wrong with the storage and how to fix it.
 * @throws Error with a cause when the storage cannot be reached.
 */
export async function probeStorage(driver: AtomicDriver, runtime: Runtime, timeLimit: number): Promise<void> {
  const name = driver?.name ?? 'the given driver'
  if (typeof driver?.insertItem !== 'function' || typeof driver.getItem !== 'function') {
    throw new TypeError(
      `storage: ${name} has no atomic insertItem(), so a code could be redeemed twice; use a driver of @grantry/storage-drivers`,
    )
  }
  if (typeof driver.setItem !== 'function' || typeof driver.removeItem !== 'function') {
    throw new TypeError(`storage: ${name} is read-only; use a driver with setItem() and removeItem()`)
  }
  if (typeof driver.incrementItem !== 'function') {
    throw new TypeError(
      `storage: ${name} has no incrementItem(), so failures could not be counted across processes; use a driver of @grantry/storage-drivers, or add the method (docs/guides/custom-driver.md)`,
    )
  }
  if (typeof driver.replaceItem !== 'function') {
    throw new TypeError(
      `storage: ${name} has no replaceItem(), so lists that two requests change could lose a member; use a driver of @grantry/storage-drivers, or add the method (docs/guides/custom-driver.md)`,
    )
  }
  let outcome: ProbeOutcome
  try {
    outcome = await withinTime(operate(driver, runtime), operations * timeLimit)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    // A TypeError means a mistake in the options. A storage that cannot be reached is not one: the same options work
    // later.
    const Failure = cause instanceof TypeError ? TypeError : Error
    throw new Failure(`storage: ${name} cannot be used: ${message.replace(/^storage: /u, '')}`, { cause })
  }
  if (outcome.created > 0 && !outcome.atomic) {
    throw new TypeError(`storage: insertItem() of ${name} created the same item twice; it must be atomic`)
  }
  if (!outcome.atomic || !outcome.keeps) {
    throw new TypeError(`storage: ${name} does not keep written values; is it read-only?`)
  }
  if (!outcome.joins) {
    throw new TypeError(
      `storage: getItems() of ${name} must return the same values as getItem(); correct it, or omit it, because it is optional (docs/guides/custom-driver.md)`,
    )
  }
  if (!outcome.counts) {
    throw new TypeError(`storage: incrementItem() of ${name} does not count; it must return 1 and then 2`)
  }
  if (!outcome.commits) {
    throw new TypeError(
      `storage: commit() of ${name} must write all changes, or none and return the keys that exist; correct it, or omit it, because it is optional (docs/guides/custom-driver.md)`,
    )
  }
  if (!outcome.compares) {
    throw new TypeError(
      `storage: replaceItem() of ${name} must replace the value only if it is the expected one, and return whether it did (docs/guides/custom-driver.md)`,
    )
  }
  if (!outcome.forgets) {
    throw new TypeError(
      `storage: removeItem() of ${name} does not remove counters; after it, incrementItem() must return 1 (docs/guides/custom-driver.md)`,
    )
  }
}
