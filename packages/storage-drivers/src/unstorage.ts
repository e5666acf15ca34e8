import type { AtomicDriver } from '@grantry/core'
import type { Driver, Storage } from 'unstorage'
import { createKeyLock, type KeyLock } from './key-lock.ts'

export interface UnstorageDriverOptions {
  /** Where the items lie, as in `prefixStorage`. A mount of their own is best. */
  readonly base?: string
  /**
   * Whether no other process writes to the storage: then a lock in this process stands for `insertItem` where a mounted driver has none.
   * With two processes it is a lie, and a code is redeemed twice.
   */
  readonly singleProcess?: boolean
}

interface Mount {
  readonly driver: Driver & Partial<Pick<AtomicDriver, 'insertItem' | 'incrementItem'>>
  readonly base: string
}

// unstorage cuts a key at `?`, folds `/`, `\` and `::` into `:`, trims colons and hides what ends with `$`; file systems fold case. What is
// left can be changed by nobody, and two keys are never one item.
const plainKey = /^[a-z0-9_-]+(?::[a-z0-9_-]+)*$/u

const nameOf = ({ driver, base }: Mount): string =>
  `${driver.name ?? 'the driver'} ${base === '' ? 'at the root' : `at "${base}"`}`

const notAtomic = (mount: Mount): TypeError =>
  new TypeError(
    `unstorageDriver(): ${nameOf(mount)} has no insertItem(), so two requests could redeem one code; mount a driver of @grantry/storage-drivers (and give a prefix as { base }), or say { singleProcess: true } when no other process writes there`,
  )

/** The mounts in which a key below the prefix can lie: those inside of it, and the nearest one around. */
function mountsBelow(storage: Storage, prefix: string): readonly Mount[] {
  const mounts: readonly Mount[] = storage.getMounts('', { parents: true })
  const [nearest] = mounts
    .filter(({ base }) => prefix.startsWith(base))
    .sort((one, other) => other.base.length - one.base.length)
  return mounts.filter((mount) => mount === nearest || mount.base.startsWith(prefix))
}

// One lock for one driver, however many storages and calls lead to it.
const locks = new WeakMap<Driver, KeyLock>()

function lockOf(driver: Driver): KeyLock {
  const lock = locks.get(driver) ?? createKeyLock()
  locks.set(driver, lock)
  return lock
}

/** Text comes back from unstorage as the value that it looks like (`"1e5"` as a number), so it lies inside an object. */
interface Stored {
  readonly value: string
  /** Milliseconds since the epoch; where the mounted driver inserts atomically, its own expiry counts. */
  readonly expiresAt?: number
}

const isStored = (found: unknown): found is Stored =>
  typeof found === 'object' && found !== null && 'value' in found && typeof found.value === 'string'

/**
 * Keeps items in any unstorage `Storage`, atomically through the `insertItem` of its mounted drivers. The storage stays the caller's: it is
 * not disposed of with the provider. Keys are lower-case letters, digits, `-` and `_` between single colons; others are rejected.
 *
 * @throws TypeError when a mount that can hold an item has no `insertItem`, unless `singleProcess` says that a lock in this process is enough.
 * @example
 * const storage = unstorageDriver(createStorage({ driver: memoryDriver() }), { base: 'tokens' })
 */
export function unstorageDriver(storage: Storage, options: UnstorageDriverOptions = {}): AtomicDriver {
  const { singleProcess = false } = options
  const base = options.base?.replace(/:$/u, '') ?? ''
  if (base !== '' && !plainKey.test(base)) {
    throw new TypeError(
      `unstorageDriver(): the base ${JSON.stringify(base)} must be lower-case letters, digits, - and _ between single colons`,
    )
  }
  const prefix = base === '' ? '' : `${base}:`
  const atomic = ({ driver }: Mount): boolean => typeof driver.insertItem === 'function'
  const unfit = mountsBelow(storage, prefix).find((mount) => !atomic(mount))
  if (unfit !== undefined && !singleProcess) throw notAtomic(unfit)

  const counts =
    singleProcess || mountsBelow(storage, prefix).every(({ driver }) => typeof driver.incrementItem === 'function')

  function locate(key: string): { readonly full: string; readonly mount: Mount; readonly relative: string } {
    const full = prefix + key
    const mount: Mount = storage.getMount(full)
    // A key that is the name of a mount lies outside of it, where getMount() does not look.
    if (!plainKey.test(key) || !full.startsWith(mount.base)) {
      throw new TypeError(
        `unstorageDriver(): ${JSON.stringify(key)} is no plain key; unstorage would store it under another`,
      )
    }
    // Something else may have been mounted since the start.
    if (!singleProcess && !atomic(mount)) throw notAtomic(mount)
    return { full, mount, relative: full.slice(mount.base.length) }
  }

  /** Where there is no atomic insert, everything that happens to one key happens one after the other. */
  async function at<T>(key: string, act: (place: ReturnType<typeof locate>) => Promise<T>): Promise<T> {
    const place = locate(key)
    if (atomic(place.mount)) return act(place)
    return lockOf(place.mount.driver)(place.relative, () => act(place))
  }

  async function read(full: string): Promise<unknown> {
    const found: unknown = await storage.getItem(full)
    // The fs driver returns what it should throw.
    if (found instanceof Error) throw found
    if (!isStored(found)) return found
    return found.expiresAt === undefined || found.expiresAt > Date.now() ? found.value : null
  }

  function write(value: string, ttl: number, mount: Mount): { readonly stored: Stored; readonly ttl: number } {
    // Redis takes whole seconds, and 0 as for ever.
    const seconds = Math.ceil(ttl)
    if (!(seconds >= 1)) throw new RangeError(`unstorageDriver(): a ttl of ${ttl} s is none; it must be 1 or more`)
    return { stored: atomic(mount) ? { value } : { value, expiresAt: Date.now() + seconds * 1000 }, ttl: seconds }
  }

  /** Where the mounted driver does not count, this process does, and alone. */
  async function incrementItem(key: string, { ttl }: { readonly ttl: number }): Promise<number> {
    const place = locate(key)
    const { mount, relative } = place
    const { driver } = mount
    if (typeof driver.incrementItem === 'function') return driver.incrementItem(relative, { ttl })
    if (!singleProcess) throw new TypeError(`unstorageDriver(): ${nameOf(mount)} has no incrementItem()`)
    return lockOf(driver)(relative, () => countAlone(place, ttl))
  }

  async function countAlone({ full, mount }: ReturnType<typeof locate>, ttl: number): Promise<number> {
    const [count = 0, end = 0] = String((await read(full)) ?? '')
      .split(' ')
      .map(Number)
    const now = Date.now()
    const next = end > now ? { count: count + 1, end } : { count: 1, end: now + ttl * 1000 }
    const written = write(`${next.count} ${next.end}`, (next.end - now) / 1000, mount)
    await storage.setItem(full, written.stored, { ttl: written.ttl })
    return next.count
  }

  /** Whether what the storage keeps is found where its mounts say that it is. */
  async function assertWithin(mount: Mount): Promise<void> {
    const inside = mount.base.startsWith(prefix) ? mount.base : prefix
    const full = `${inside}probe:${crypto.randomUUID()}`
    await storage.setItem(full, { value: full }, { ttl: 60 })
    const kept = await storage.getItem(full)
    const found = await mount.driver.getItem(full.slice(mount.base.length))
    await storage.removeItem(full)
    if (isStored(kept) && (found === null || found === undefined)) {
      throw new TypeError(
        `unstorageDriver(): what is written through the storage is not found in ${nameOf(mount)}, which its getMount() names, as with prefixStorage(); pass the storage itself, and the prefix as { base }`,
      )
    }
  }

  return {
    ...(counts && { incrementItem }),
    name: `unstorage (${[...new Set(mountsBelow(storage, prefix).map(({ driver }) => driver.name ?? 'unnamed'))].join(', ')})`,
    async open() {
      for (const mount of mountsBelow(storage, prefix)) await assertWithin(mount)
    },
    getItem: (key) => at(key, ({ full }) => read(full)),
    setItem: (key, value, { ttl }) =>
      at(key, async ({ full, mount }) => {
        const written = write(value, ttl, mount)
        await storage.setItem(full, written.stored, { ttl: written.ttl })
      }),
    removeItem: (key) =>
      at(key, async ({ full }) => {
        await storage.removeItem(full)
        // The fs driver returns the error of an unlink, and unstorage drops it: what was revoked would live on.
        if (((await read(full)) ?? undefined) !== undefined)
          throw new Error(`unstorageDriver(): ${full} was removed and is still there`)
      }),
    insertItem: (key, value, { ttl }) =>
      at(key, async ({ full, mount, relative }) => {
        const written = write(value, ttl, mount)
        const { insertItem } = mount.driver
        if (insertItem !== undefined) {
          return insertItem.call(mount.driver, relative, JSON.stringify(written.stored), { ttl: written.ttl })
        }
        if (((await read(full)) ?? undefined) !== undefined) return false
        await storage.setItem(full, written.stored, { ttl: written.ttl })
        return true
      }),
  }
}
