import { hex } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'
import type { AtomicDriver } from './store.ts'

/**
 * Proves at start what single use will rest on: the driver keeps what is written, and inserts only once.
 *
 * @throws TypeError with a sentence that says what is wrong with the storage and what to do.
 */
export async function probeStorage(driver: AtomicDriver, runtime: Runtime): Promise<void> {
  const name = driver?.name ?? 'the given driver'
  if (typeof driver?.insertItem !== 'function' || typeof driver.getItem !== 'function') {
    throw new TypeError(
      `storage: ${name} has no atomic insertItem(), so a code could be redeemed twice; take a driver of @grantry/storage-drivers`,
    )
  }
  if (typeof driver.setItem !== 'function' || typeof driver.removeItem !== 'function') {
    throw new TypeError(`storage: ${name} is read-only; take a driver that can write and remove`)
  }
  const key = `probe:${hex(runtime.randomBytes(32))}`
  const value = JSON.stringify({ probe: key })
  let outcome: readonly unknown[]
  try {
    const first = await driver.insertItem(key, value, { ttl: 60 })
    const second = await driver.insertItem(key, '{}', { ttl: 60 })
    const kept = await driver.getItem(key)
    await driver.removeItem(key, {})
    const removed = await driver.getItem(key)
    outcome = [first, second, typeof kept === 'string' ? kept : JSON.stringify(kept), removed ?? undefined]
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`storage: ${name} cannot be used: ${message}`, { cause })
  }
  const [first, second, kept, removed] = outcome
  if (first !== true || kept !== value || removed !== undefined) {
    throw new TypeError(`storage: ${name} does not keep what is written to it; is it read-only?`)
  }
  if (second !== false) {
    throw new TypeError(`storage: insertItem() of ${name} created one item twice; it must be atomic`)
  }
}
