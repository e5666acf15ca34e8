import { maxLifetime } from '../config-schema.ts'
import type { PluginRecords } from '../parts/kit.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** Seconds that can pass between the calculation of `expiresAt` and its use. */
const maxDelay = 60

/**
 * Checks that `expiresAt` is an epoch time. A duration passed by mistake would make a single-use credential usable
 * again immediately. An end that has just passed is not a mistake: time passes between its calculation and this check.
 */
export const createExpiryCheck =
  (runtime: Pick<Runtime, 'now'>) =>
  (expiresAt: number): number => {
    const now = runtime.now()
    if (Number.isFinite(expiresAt) && expiresAt > now - maxDelay && expiresAt <= now + maxLifetime) return expiresAt
    throw new TypeError(
      `expiresAt must be in epoch seconds and in the future, but is ${expiresAt}; use kit.now() plus a number of seconds`,
    )
  }

/** @param hashed returns the part of a stored key that belongs to this plugin alone */
export function createPluginRecords(
  store: Store,
  hashed: (key: string) => string,
  validExpiry: (expiresAt: number) => number,
): PluginRecords {
  const at = (key: string): string => keyOf('plugin', hashed(key))
  return {
    get: async (key, schema) => store.get(at(key), schema),
    put: async (key, value, expiresAt, options) => store.put(at(key), value, validExpiry(expiresAt), options),
    insert: async (key, value, expiresAt, options) => store.insert(at(key), value, validExpiry(expiresAt), options),
    delete: async (key) => store.delete(at(key)),
    async update(key, schema, change) {
      await store.update<unknown>(at(key), schema, (present) => {
        const changed = change(present as Parameters<typeof change>[0])
        return changed && { ...changed, expiresAt: validExpiry(changed.expiresAt) }
      })
    },
    increment: async (key, expiresAt) => store.increment(keyOf('count', hashed(key)), validExpiry(expiresAt)),
  }
}
