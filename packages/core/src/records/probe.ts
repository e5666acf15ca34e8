import { hex } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'
import { type AtomicDriver, withinTime } from './store.ts'

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
  readonly created: number
  readonly counts: boolean
}

/** Sequential storage operations of the probe. They determine its time limit. */
const operations = 11

/**
 * Whether `incrementItem()` works. It can fail alone: Redis may forbid scripts, or a wrapper around the driver may not
 * forward it.
 */
async function count(driver: AtomicDriver, runtime: Runtime): Promise<boolean> {
  const key = `probe:${hex(runtime.randomBytes(32))}`
  const counted = [await driver.incrementItem(key, { ttl: 60 }), await driver.incrementItem(key, { ttl: 60 })]
  await driver.removeItem(key, {})
  return counted[0] === 1 && counted[1] === 2
}

async function operate(driver: AtomicDriver, runtime: Runtime): Promise<ProbeOutcome> {
  await driver.open?.()
  const key = `probe:${hex(runtime.randomBytes(32))}`
  const value = JSON.stringify({ probe: key })
  const other = JSON.stringify({ probe: 'replaced' })
  // Concurrently: a driver that checks and then writes creates the item more than once.
  const racers = Array.from({ length: 8 }, async () => driver.insertItem(key, value, { ttl: 60 }))
  const created = (await Promise.all(racers)).filter((result) => result === true).length
  const late = await driver.insertItem(key, '{}', { ttl: 60 })
  const inserted = asText(await driver.getItem(key))
  await driver.setItem(key, other, { ttl: 60 })
  const replaced = asText(await driver.getItem(key))
  await driver.removeItem(key, {})
  const removed = asText(await driver.getItem(key))
  return {
    atomic: created === 1 && late === false,
    keeps: inserted === value && replaced === other && removed === undefined,
    created,
    counts: await count(driver, runtime),
  }
}

/**
 * Opens the storage at startup and checks that it keeps written values, that its insert is atomic, on which single use
 * depends, and that its counter counts.
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
  if (!outcome.counts) {
    throw new TypeError(`storage: incrementItem() of ${name} does not count; it must return 1 and then 2`)
  }
}
