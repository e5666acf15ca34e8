// The entries that administrators change: no change is lost, and a version never occurs again.
import { type AtomicDriver, type Entry, isOAuthError, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const issuer = 'https://id.example.com'
const entriesOn = (storage: AtomicDriver) => openEntries({ issuer, storage })
const open = () => entriesOn(memoryDriver())

/** Yields before each operation, so that concurrent calls run in between. */
function slow(driver: AtomicDriver): AtomicDriver {
  const later = async <T>(act: () => T | Promise<T>): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve))
    return act()
  }
  return {
    ...driver,
    getItem: (key) => later(() => driver.getItem(key)),
    insertItem: (key, value, options) => later(() => driver.insertItem(key, value, options)),
    replaceItem: (key, value) => later(() => driver.replaceItem(key, value)),
  }
}

describe('an entry', () => {
  test.each([
    ['user-name', 86_400],
    ['user-address', 86_400],
    ['user', 100 * 365 * 86_400],
    ['scope', 100 * 365 * 86_400],
  ] as const)('of the kind %s keeps its place for %i seconds after its removal', async (kind, seconds) => {
    const driver = memoryDriver()
    const lifetimes: number[] = []
    const entries = entriesOn({
      ...driver,
      replaceItem(key, change) {
        lifetimes.push(change.ttl)
        return driver.replaceItem(key, change)
      },
    })
    const { version } = (await entries.create(kind, 'alice@example.com', {})) as Entry
    const changed = (await entries.replace(kind, 'alice@example.com', version, { a: 1 })) as Entry
    expect(await entries.remove(kind, 'alice@example.com', changed.version)).toBe(true)
    expect(lifetimes).toEqual([100 * 365 * 86_400, seconds])
  })

  test('is created once, replaced at its version, and removed at its version', async () => {
    const entries = open()
    const created = (await entries.create('client', 'web', { a: 1 })) as Entry
    expect(await entries.create('client', 'web', { a: 2 })).toBeUndefined()
    expect(await entries.get('client', 'web')).toEqual(created)
    const replaced = (await entries.replace('client', 'web', created.version, { a: 3 })) as Entry
    expect(replaced.version).not.toBe(created.version)
    expect(await entries.replace('client', 'web', created.version, { a: 4 })).toBeUndefined()
    expect(await entries.remove('client', 'web', created.version)).toBe(false)
    expect(await entries.get('client', 'web')).toEqual({ id: 'web', version: replaced.version, value: { a: 3 } })
    expect(await entries.remove('client', 'web', replaced.version)).toBe(true)
    expect(await entries.remove('client', 'web', replaced.version)).toBe(false)
    expect(await entries.get('client', 'web')).toBeUndefined()
  })

  test('that was removed and created again does not accept an old version', async () => {
    const entries = open()
    const { version } = (await entries.create('client', 'web', 1)) as Entry
    await entries.remove('client', 'web', version)
    const again = (await entries.create('client', 'web', 2)) as Entry
    expect(again.version).not.toBe(version)
    expect(await entries.replace('client', 'web', version, 3)).toBeUndefined()
    expect((await entries.get('client', 'web'))?.value).toBe(2)
  })

  test('loses no change of 20 administrators who repeat a refused one', async () => {
    const entries = entriesOn(slow(memoryDriver()))
    await entries.create('client', 'web', [])
    const add = async (name: string): Promise<void> => {
      for (;;) {
        const { version, value } = (await entries.get('client', 'web')) as Entry
        if (await entries.replace('client', 'web', version, [...(value as string[]), name])) return
      }
    }
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
    await Promise.all(names.map(add))
    const { value } = (await entries.get('client', 'web')) as Entry
    expect([...(value as string[])].sort()).toEqual([...names].sort())
  })

  test('is created by one of 20 administrators', async () => {
    const entries = entriesOn(slow(memoryDriver()))
    const created = await Promise.all(Array.from({ length: 20 }, (_, index) => entries.create('client', 'web', index)))
    const winners = created.filter((entry) => entry !== undefined)
    expect(winners).toHaveLength(1)
    expect(await entries.get('client', 'web')).toEqual(winners[0])
  })

  test('belongs to one issuer and one kind', async () => {
    const storage = memoryDriver()
    const [entries, otherIssuer] = [entriesOn(storage), openEntries({ issuer: 'https://other.example.com', storage })]
    await entries.create('client', 'web', 1)
    expect(await otherIssuer.get('client', 'web')).toBeUndefined()
    expect((await otherIssuer.list('client', { limit: 10 })).entries).toEqual([])
    expect(await entries.get('audit', 'web')).toBeUndefined()
  })

  test.each([
    ['client', '{"version":1,"expiresAt":9999999999,"value":{}}'],
    ['client', '{"version":9,"expiresAt":9999999999,"value":{"version":"v","value":1}}'],
    ['client', 'no JSON'],
  ] as const)('that cannot be read is not absent: a %s with %s', async (kind, stored) => {
    const storage = memoryDriver()
    const entries = entriesOn(storage)
    await entries.create(kind, 'web', 1)
    const [key = ''] = storage.getKeys().filter((name) => name.startsWith('entry:'))
    storage.setItem(key, stored, { ttl: 60 })
    const error: unknown = await entries.get(kind, 'web').catch((thrown: unknown) => thrown)
    expect(isOAuthError(error) && error.code).toBe('temporarily_unavailable')
    await expect(entries.create(kind, 'web', 2)).rejects.toThrow()
    expect(storage.getItem(key)).toBe(stored)
  })

  test.each(['', 'a'.repeat(101), 'caf\u00e9', 'a\nb', '\u{1F600}', '%'.repeat(40), 'A'.repeat(60)])(
    'has no id like %j',
    async (id) => {
      const entries = open()
      expect(await entries.get('client', id)).toBeUndefined()
      expect((await entries.getWithRevision('client', id)).entry).toBeUndefined()
      await expect(entries.create('client', id, 1)).rejects.toThrow('1 to 100 printable ASCII characters')
    },
  )

  test('takes at most 65,536 characters', async () => {
    const entries = open()
    await expect(entries.create('client', 'web', 'x'.repeat(65_535))).rejects.toThrow('more than 65536 characters')
    expect(await entries.create('client', 'web', 'x'.repeat(65_534))).toBeDefined()
  })

  test('of the audit trail ends after a year, also after a change and its removal', async () => {
    const storage = memoryDriver()
    const entries = entriesOn(storage)
    const endIsInAYear = (): void => {
      const [key = ''] = storage.getKeys().filter((name) => name.startsWith('entry:audit:'))
      const { expiresAt } = storage.getInstance().get(key) as { readonly expiresAt: number }
      expect(expiresAt - Date.now()).toBeLessThanOrEqual(365 * 86_400_000)
    }
    const created = (await entries.create('audit', 'one', 1)) as Entry
    endIsInAYear()
    const { version } = (await entries.replace('audit', 'one', created.version, 2)) as Entry
    endIsInAYear()
    expect(await entries.remove('audit', 'one', version)).toBe(true)
    endIsInAYear()
  })
})

describe('the revision', () => {
  test('is another one after each change, and the same without a change', async () => {
    const entries = open()
    const seen = [await entries.revision('client')]
    const created = (await entries.create('client', 'web', 1)) as Entry
    seen.push(await entries.revision('client'))
    const replaced = (await entries.replace('client', 'web', created.version, 2)) as Entry
    seen.push(await entries.revision('client'))
    await entries.remove('client', 'web', replaced.version)
    seen.push(await entries.revision('client'))
    expect(new Set(seen).size).toBe(4)
    await entries.replace('client', 'web', created.version, 3)
    expect((await entries.getWithRevision('client', 'web')).revision).toBe(seen.at(-1))
  })
})

describe('a list', () => {
  const ids = ['a', 'a-b', 'a.b', 'B', 'b', 'https://mcp.example.com/client.json', `x${'0'.repeat(64)}`, 'y z', '~']

  test('has each entry once, whatever the size of its pages', async () => {
    const entries = open()
    for (const id of [...ids].reverse()) await entries.create('client', id, id)
    for (const limit of [1, 2, 100]) {
      const listed: Entry[] = []
      for (let after: string | undefined, isLast = false; !isLast; ) {
        const page = await entries.list('client', { after, limit })
        listed.push(...page.entries)
        after = page.next
        isLast = after === undefined
      }
      expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort())
      expect(listed.every(({ id, value }) => id === value)).toBe(true)
    }
  })

  test('has the entries whose ids start with a prefix, and none that was removed', async () => {
    const entries = open()
    for (const id of ids) await entries.create('client', id, id)
    const { version } = (await entries.get('client', 'a-b')) as Entry
    await entries.remove('client', 'a-b', version)
    const idsOf = async (prefix: string) =>
      (await entries.list('client', { limit: 100, prefix })).entries.map(({ id }) => id)
    expect(await idsOf('a')).toEqual(['a', 'a.b'])
    expect(await idsOf('https://')).toEqual(['https://mcp.example.com/client.json'])
  })

  test.each([0, 1001, 1.5, Number.NaN])('has no pages of %s', async (limit) => {
    await expect(open().list('client', { limit })).rejects.toThrow('give 1 to 1000')
  })
})

test('a driver without listKeys() is refused', () => {
  const storage = mapDriver(new Map(), () => 0)
  expect(() => entriesOn(storage)).toThrow('has no listKeys(), which entries need')
})
