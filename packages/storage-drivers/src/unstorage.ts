import type { AtomicDriver } from '@grantry/core'
import type { Driver, Storage } from 'unstorage'
import { createKeyLock, type KeyLock } from './key-lock.ts'

export interface UnstorageDriverOptions {
  /** Prefix of all keys, as in `prefixStorage`. Prefer a mount that only Grantry uses. */
  readonly base?: string | undefined
  /**
   * States that no other process writes to the storage. A lock in this process then replaces `insertItem`,
   * `incrementItem` and `replaceItem` for mounted drivers that lack them. If a second process writes anyway, a code can
   * be redeemed twice.
   */
  readonly singleProcess?: boolean | undefined
}

interface Mount {
  readonly driver: Driver & Partial<Pick<AtomicDriver, 'insertItem' | 'incrementItem' | 'replaceItem'>>
  readonly base: string
}

// unstorage cuts a key at `?`, folds `/`, `\` and `::` into `:`, trims colons and hides keys that end with `$`; file
// systems fold case. Keys of this form stay unchanged, so two keys never share an item.
const plainKey = /^[a-z0-9_-]+(?::[a-z0-9_-]+)*$/u

const describeMount = ({ driver, base }: Mount): string =>
  `${driver.name ?? 'the driver'} ${base === '' ? 'at the root' : `at "${base}"`}`

const hasInsert = ({ driver }: Mount): boolean => typeof driver.insertItem === 'function'

/** The operations that a mounted driver needs to be atomic across processes, and the consequence without each. */
const atomicOperations = {
  insertItem: 'two requests could redeem one code',
  incrementItem: 'failures could not be counted across processes',
  replaceItem: 'lists that two requests change could lose a member',
} as const

type AtomicOperation = keyof typeof atomicOperations

const missingIn = ({ driver }: Mount): AtomicOperation | undefined =>
  (Object.keys(atomicOperations) as AtomicOperation[]).find((name) => typeof driver[name] !== 'function')

/** @throws TypeError when the mounted driver lacks an operation that must be atomic across processes. */
function assertAtomic(mount: Mount): void {
  const missing = missingIn(mount)
  if (missing === undefined) return
  throw new TypeError(
    `unstorageDriver(): ${describeMount(mount)} has no ${missing}(), so ${atomicOperations[missing]}; mount a driver of @grantry/storage-drivers (and pass a prefix as { base }), or set { singleProcess: true } if no other process writes there`,
  )
}

/** Returns the mounts that can hold a key with the prefix: those below it, and the nearest one that contains it. */
function mountsBelow(storage: Storage, prefix: string): readonly Mount[] {
  const mounts: readonly Mount[] = storage.getMounts('', { parents: true })
  const [nearest] = mounts
    .filter(({ base }) => prefix.startsWith(base))
    .sort((left, right) => right.base.length - left.base.length)
  return mounts.filter((mount) => mount === nearest || mount.base.startsWith(prefix))
}

// One lock per driver instance, even if several storages mount it.
const locks = new WeakMap<Driver, KeyLock>()

function lockFor(driver: Driver): KeyLock {
  const lock = locks.get(driver) ?? createKeyLock()
  locks.set(driver, lock)
  return lock
}

/** unstorage parses text that looks like JSON (`"1e5"` becomes a number), so the value is wrapped in an object. */
interface Stored {
  readonly value: string
  /** Milliseconds since the epoch. Absent if the mounted driver inserts atomically: its own expiry applies then. */
  readonly expiresAt?: number
}

const isStored = (item: unknown): item is Stored =>
  typeof item === 'object' && item !== null && 'value' in item && typeof item.value === 'string'

/** Where an item is: its whole key, and the mounted driver with its own key. */
interface Location {
  readonly full: string
  readonly mount: Mount
  readonly relative: string
}

async function read(storage: Storage, full: string): Promise<unknown> {
  const item: unknown = await storage.getItem(full)
  // The fs driver of unstorage returns errors instead of throwing them.
  if (item instanceof Error) throw item
  if (!isStored(item)) return item
  return item.expiresAt === undefined || item.expiresAt > Date.now() ? item.value : null
}

function write(value: string, ttl: number, mount: Mount): { readonly stored: Stored; readonly ttl: number } {
  // The Redis driver of unstorage takes whole seconds and treats 0 as no expiry.
  const seconds = Math.ceil(ttl)
  if (!(seconds >= 1))
    throw new RangeError(`unstorageDriver(): the ttl ${ttl} is not valid; it must be more than 0 seconds`)
  return { stored: hasInsert(mount) ? { value } : { value, expiresAt: Date.now() + seconds * 1000 }, ttl: seconds }
}

async function countInProcess(storage: Storage, { full, mount }: Location, ttl: number): Promise<number> {
  const [count = 0, end = 0] = String((await read(storage, full)) ?? '')
    .split(' ')
    .map(Number)
  const now = Date.now()
  const next = end > now ? { count: count + 1, end } : { count: 1, end: now + ttl * 1000 }
  const written = write(`${next.count} ${next.end}`, (next.end - now) / 1000, mount)
  await storage.setItem(full, written.stored, { ttl: written.ttl })
  return next.count
}

/** Uses the `replaceItem` of the mounted driver, or compares in this process under `singleProcess`. */
async function replaceAt(
  storage: Storage,
  { full, mount, relative }: Location,
  { from, to, ttl }: { readonly from: string; readonly to: string; readonly ttl: number },
): Promise<boolean> {
  const written = write(to, ttl, mount)
  const { replaceItem } = mount.driver
  if (hasInsert(mount) && replaceItem !== undefined) {
    const change = { from: JSON.stringify({ value: from }), to: JSON.stringify(written.stored), ttl: written.ttl }
    return replaceItem.call(mount.driver, relative, change)
  }
  return lockFor(mount.driver)(relative, async () => {
    if ((await read(storage, full)) !== from) return false
    await storage.setItem(full, written.stored, { ttl: written.ttl })
    return true
  })
}

/** Checks that a value written through the storage arrives in the driver that `getMount()` names. */
async function assertReachesDriver(storage: Storage, prefix: string, mount: Mount): Promise<void> {
  const inside = mount.base.startsWith(prefix) ? mount.base : prefix
  const full = `${inside}probe:${crypto.randomUUID()}`
  await storage.setItem(full, { value: full }, { ttl: 60 })
  const kept = await storage.getItem(full)
  const inDriver = await mount.driver.getItem(full.slice(mount.base.length))
  await storage.removeItem(full)
  if (isStored(kept) && (inDriver === null || inDriver === undefined)) {
    throw new TypeError(
      `unstorageDriver(): a value written through the storage is not in ${describeMount(mount)}, the driver that its getMount() returns; this happens with prefixStorage(): pass the storage itself, and the prefix as { base }`,
    )
  }
}

/**
 * Stores items in any unstorage `Storage`, with the `insertItem`, `incrementItem` and `replaceItem` of its mounted drivers
 * as the atomic operations. The caller keeps ownership of the storage: closing the provider does not dispose of it. Keys must be
 * lower-case letters, digits, `-` and `_`, separated by single colons; others are rejected.
 *
 * @throws TypeError when a mount that can hold an item lacks one of these operations and `singleProcess` is not set.
 * @example
 * const storage = unstorageDriver(createStorage({ driver: memoryDriver() }), { base: 'tokens' })
 */
export function unstorageDriver(storage: Storage, options: UnstorageDriverOptions = {}): AtomicDriver {
  const { singleProcess = false } = options
  const base = options.base?.replace(/:$/u, '') ?? ''
  if (base !== '' && !plainKey.test(base)) {
    throw new TypeError(
      `unstorageDriver(): the base ${JSON.stringify(base)} must be lower-case letters, digits, - and _, separated by single colons`,
    )
  }
  const prefix = base === '' ? '' : `${base}:`
  if (!singleProcess) mountsBelow(storage, prefix).forEach(assertAtomic)

  function locate(key: string): Location {
    const full = prefix + key
    const mount: Mount = storage.getMount(full)
    // A key equal to the name of a mount lies outside that mount, but getMount() returns it.
    if (!plainKey.test(key) || !full.startsWith(mount.base)) {
      throw new TypeError(
        `unstorageDriver(): ${JSON.stringify(key)} is not a plain key; unstorage would store it under a different key`,
      )
    }
    // Another driver may have been mounted since the start.
    if (!singleProcess) assertAtomic(mount)
    return { full, mount, relative: full.slice(mount.base.length) }
  }

  /** Runs operations on one key in sequence if the mounted driver lacks one that must be atomic. */
  async function withKey<T>(key: string, act: (location: Location) => Promise<T>): Promise<T> {
    const location = locate(key)
    if (missingIn(location.mount) === undefined) return act(location)
    return lockFor(location.mount.driver)(location.relative, () => act(location))
  }

  /** Uses the counter of the mounted driver, or counts in this process under `singleProcess`. */
  async function incrementItem(key: string, { ttl }: { readonly ttl: number }): Promise<number> {
    const location = locate(key)
    const { mount, relative } = location
    const { driver } = mount
    if (typeof driver.incrementItem === 'function') return driver.incrementItem(relative, { ttl })
    return lockFor(driver)(relative, () => countInProcess(storage, location, ttl))
  }

  return {
    name: `unstorage (${[...new Set(mountsBelow(storage, prefix).map(({ driver }) => driver.name ?? 'unnamed'))].join(', ')})`,
    async open() {
      for (const mount of mountsBelow(storage, prefix)) await assertReachesDriver(storage, prefix, mount)
    },
    getItem: (key) => withKey(key, ({ full }) => read(storage, full)),
    setItem: (key, value, { ttl }) =>
      withKey(key, async ({ full, mount }) => {
        const written = write(value, ttl, mount)
        await storage.setItem(full, written.stored, { ttl: written.ttl })
      }),
    removeItem: (key) =>
      withKey(key, async ({ full }) => {
        await storage.removeItem(full)
        // The fs driver returns the error of a failed unlink and unstorage ignores it: a revoked token would stay
        // valid.
        if (((await read(storage, full)) ?? undefined) !== undefined)
          throw new Error(`unstorageDriver(): ${full} still exists after removeItem()`)
      }),
    insertItem: (key, value, { ttl }) =>
      withKey(key, async ({ full, mount, relative }) => {
        const written = write(value, ttl, mount)
        const { insertItem } = mount.driver
        if (insertItem !== undefined) {
          return insertItem.call(mount.driver, relative, JSON.stringify(written.stored), { ttl: written.ttl })
        }
        if (((await read(storage, full)) ?? undefined) !== undefined) return false
        await storage.setItem(full, written.stored, { ttl: written.ttl })
        return true
      }),
    incrementItem,
    replaceItem: async (key, change) => replaceAt(storage, locate(key), change),
  }
}
