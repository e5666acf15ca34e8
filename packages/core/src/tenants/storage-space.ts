import { after } from '../promises.ts'
import type { AtomicDriver, DriverItem } from '../records/driver.ts'
import { type RecoverableDriver, recoveryKey } from '../records/recover-storage.ts'
import { webRuntime } from '../runtime.ts'

/** The key of an entry up to its id, with the hash of its issuer. */
const entryForm = /^(entry:[a-z-]+:)([0-9a-f]{32}):/u

/** The keys that mark a copy, or a recovery, that is not complete, for all providers on the storage. A provider only reads them. */
const sharedKeys: ReadonlySet<string> = new Set(['copy', recoveryKey])

/** Translates the keys of a space to those of the storage, and back. */
interface SpaceKeys {
  /** The beginning of the keys in the storage, except those of entries. */
  readonly start: string
  of(key: string): string
  /** Returns the key of the space for a key of the storage that starts with the translation of `base`. */
  back(key: string, base: string): string
}

function spaceKeys(name: string): SpaceKeys {
  const mark = webRuntime.sha256Hex(name).slice(0, 32)
  const start = `space:${mark}:`
  const owners = new Map<string, string>()
  // The keys of entries must not become longer, and must keep their prefix, by which drivers list them.
  function ownerIn(owner: string): string {
    const known = owners.get(owner) ?? webRuntime.sha256Hex(`${mark} ${owner}`).slice(0, 32)
    owners.set(owner, known)
    return known
  }
  function of(key: string): string {
    if (sharedKeys.has(key)) return key
    if (!key.startsWith('entry:')) return start + key
    const [whole, kind, owner] = entryForm.exec(key) ?? []
    if (whole === undefined || kind === undefined || owner === undefined) {
      throw new TypeError('A key of an entry must contain its kind and the hash of its issuer')
    }
    return `${kind}${ownerIn(owner)}:${key.slice(whole.length)}`
  }
  return { start, of, back: (key, base) => base + key.slice(of(base).length) }
}

/**
 * Reads a storage, and yields the keys of a part, without those of its entries, which the driver can list. A batch can be
 * empty.
 */
export async function* keysInSpace(
  driver: Pick<RecoverableDriver, 'listItems'>,
  name: string,
): AsyncGenerator<readonly string[], void> {
  const { start } = spaceKeys(name)
  for await (const items of driver.listItems()) {
    yield items.flatMap(({ key }) => (key.startsWith(start) ? [key] : []))
  }
}

const inSpace = (keys: SpaceKeys, items: readonly DriverItem[]): readonly DriverItem[] =>
  items.map((item) => ({ ...item, key: keys.of(item.key) }))

/**
 * Returns a part of a storage that shares no item with any other part, so that providers cannot meet in it. The name can
 * contain any character: keys contain its hash. The part never closes the storage.
 *
 * @example
 * const storage = storageSpace(postgresqlDriver({ url }), 'acme')
 */
export function storageSpace(driver: AtomicDriver, name: string): AtomicDriver {
  const keys = spaceKeys(name)
  const { of } = keys
  return {
    name: driver.name,
    open: () => driver.open?.(),
    getItem: (key) => driver.getItem(of(key)),
    setItem: (key, value, options) => driver.setItem(of(key), value, options),
    removeItem: (key, options) => driver.removeItem(of(key), options),
    insertItem: (key, value, options) => driver.insertItem(of(key), value, options),
    incrementItem: (key, options) => driver.incrementItem(of(key), options),
    replaceItem: (key, change) => driver.replaceItem(of(key), change),
    ...joined(driver, keys),
    ...listingOf(driver, keys),
  }
}

/** The operations on several items, if the driver has them. */
function joined(driver: AtomicDriver, keys: SpaceKeys): Pick<AtomicDriver, 'getItems' | 'commit'> {
  return {
    ...(driver.getItems !== undefined && {
      getItems(items) {
        const names = new Map(items.map(({ key }) => [keys.of(key), key]))
        const read = driver.getItems?.([...names.keys()].map((key) => ({ key }))) ?? []
        return after(read, (stored) => stored.map(({ key, value }) => ({ key: names.get(key) ?? key, value })))
      },
    }),
    ...(driver.commit !== undefined && {
      commit({ create, put, remove }) {
        const names = new Map(create.map(({ key }) => [keys.of(key), key]))
        const changes = { create: inSpace(keys, create), put: inSpace(keys, put), remove: remove.map(keys.of) }
        return after<true | readonly string[], true | readonly string[]>(driver.commit?.(changes) ?? [], (outcome) =>
          Array.isArray(outcome) ? outcome.map((key) => names.get(key) ?? key) : outcome,
        )
      },
    }),
  }
}

/** The operation that only entries need, if the driver has it. */
const listingOf = (driver: AtomicDriver, keys: SpaceKeys): Pick<AtomicDriver, 'listKeys'> =>
  driver.listKeys === undefined
    ? {}
    : {
        listKeys(base, { after: start, limit }) {
          const page = { after: start === '' ? '' : keys.of(start), limit }
          return after(driver.listKeys?.(keys.of(base), page) ?? [], (listed) =>
            listed.map((key) => keys.back(key, base)),
          )
        },
      }
