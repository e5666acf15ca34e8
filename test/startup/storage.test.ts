import { type AtomicDriver, createProvider, type ProviderOptions, signingKeys } from '@grantry/core'
import { copyItems } from '@grantry/storage-drivers/copy'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { createStorage } from 'unstorage'
import { describe, expect, test } from 'vitest'

const start = (storage: unknown, more: Partial<ProviderOptions> = {}) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: storage as AtomicDriver,
    clients: [],
    plugins: [],
    ...more,
  })

/** A driver on this map, with the given methods. */
const driver = (more: object, items = new Map<string, string>()) => ({ ...mapDriver(items), name: 'broken', ...more })

const refusal = (message: unknown) => ({ name: 'TypeError', message })
/** What a driver throws is a failure of the store, not a mistake in the options. */
const failure = (message: unknown) => ({ name: 'Error', message })
const notKept = refusal('storage: broken does not keep written values; is it read-only?')
const notAtomic = refusal('storage: insertItem() of broken created the same item twice; it must be atomic')

describe('storage', () => {
  test('a driver that fulfils the contract starts, and the probe leaves nothing behind', async () => {
    const items = new Map<string, string>()
    await start(mapDriver(items))
    expect(items.size).toBe(0)
  })

  test('rejects the target of a copy that is not complete, which a final pass would overwrite', async () => {
    const from = memoryDriver()
    const to = memoryDriver()
    await copyItems({ from, to })
    await expect(start(to)).rejects.toMatchObject(
      failure(
        'storage: memory cannot be used: it is the target of a copy that is not complete; stop the service, and run "grantry storage copy" with --final (docs/guides/storage.md)',
      ),
    )
    await copyItems({ from, to, final: true })
    await start(to)
  })

  test('open() is called once, before anything else', async () => {
    const calls: string[] = []
    const all = mapDriver()
    const logged = Object.fromEntries(
      (['getItem', 'setItem', 'removeItem', 'insertItem', 'incrementItem', 'replaceItem'] as const).map((name) => [
        name,
        (...parameters: never[]) => {
          calls.push(name)
          return (all[name] as (...each: never[]) => unknown)(...parameters)
        },
      ]),
    )
    await start({ ...logged, open: () => void calls.push('open') })
    expect(calls.filter((name) => name === 'open')).toHaveLength(1)
    expect(calls[0]).toBe('open')
  })

  test.each([true, false])('rejects a driver without incrementItem(), with abuseControl: %s', async (abuseControl) => {
    const calls: string[] = []
    const storage = driver({ incrementItem: undefined, open: () => void calls.push('open') })
    await expect(start(storage, { abuseControl })).rejects.toMatchObject(
      refusal(
        'storage: broken has no incrementItem(), so failures could not be counted across processes; use a driver of @grantry/storage-drivers, or add the method (docs/guides/custom-driver.md)',
      ),
    )
    expect(calls).toEqual([])
  })

  test('rejects a removeItem() that leaves counters: a login could not forget earlier failures', async () => {
    let count = 0
    const incrementItem = () => {
      count += 1
      return count
    }
    await expect(start(driver({ incrementItem }))).rejects.toMatchObject(
      refusal(
        'storage: removeItem() of broken does not remove counters; after it, incrementItem() must return 1 (docs/guides/custom-driver.md)',
      ),
    )
  })

  test('rejects an incrementItem() that does not count', async () => {
    for (const incrementItem of [() => 0, () => 1, () => undefined]) {
      await expect(start(driver({ incrementItem }))).rejects.toMatchObject(
        refusal('storage: incrementItem() of broken does not count; it must return 1 and then 2'),
      )
    }
  })

  test('reports a rejection of open(), with the name of the driver', async () => {
    const open = () => Promise.reject(new Error('the directory can be read by others; run chmod 700 on it'))
    await expect(start(driver({ open }))).rejects.toMatchObject(
      failure('storage: broken cannot be used: the directory can be read by others; run chmod 700 on it'),
    )
  })

  test('providers that start concurrently on one store do not disturb each other', async () => {
    const items = new Map<string, string>()
    await Promise.all(Array.from({ length: 20 }, () => start(mapDriver(items))))
    expect(items.size).toBe(0)
  })

  test.each([
    ['a driver', driver({ insertItem: undefined }), 'broken'],
    ['a driver without a name', driver({ insertItem: undefined, name: undefined }), 'the given driver'],
    ['a storage of unstorage', createStorage(), 'the given driver'],
  ])('rejects %s without insertItem()', async (_what, storage, name) => {
    await expect(start(storage)).rejects.toMatchObject(
      refusal(
        `storage: ${name} has no atomic insertItem(), so a code could be redeemed twice; use a driver of @grantry/storage-drivers`,
      ),
    )
  })

  test.each(['setItem', 'removeItem'])('rejects a driver without %s() as read-only', async (method) => {
    await expect(start(driver({ [method]: undefined }))).rejects.toMatchObject(
      refusal('storage: broken is read-only; use a driver with setItem() and removeItem()'),
    )
  })

  test('rejects a driver that only pretends to insert', async () => {
    await expect(start(driver({ insertItem: () => true }))).rejects.toMatchObject(notAtomic)
  })

  test('rejects a driver that never inserts', async () => {
    await expect(start(driver({ insertItem: () => false }))).rejects.toMatchObject(notKept)
  })

  test('rejects a driver that does not remove', async () => {
    await expect(start(driver({ removeItem() {} }))).rejects.toMatchObject(notKept)
  })

  // setItem() writes codes and refresh tokens: without it the provider starts but finds no code.
  test('rejects a driver whose setItem() keeps nothing', async () => {
    await expect(start(driver({ setItem() {} }))).rejects.toMatchObject(notKept)
  })

  test('rejects a driver whose setItem() throws: a disk mounted read-only', async () => {
    const storage = driver({
      setItem() {
        throw new Error('EROFS: read-only file system')
      },
    })
    await expect(start(storage)).rejects.toMatchObject(
      failure('storage: broken cannot be used: EROFS: read-only file system'),
    )
  })

  test('rejects an insertItem() that overwrites as not atomic, not as read-only', async () => {
    const items = new Map<string, string>()
    const storage = driver(
      {
        insertItem(key: string, value: string) {
          items.set(key, value)
          return true
        },
      },
      items,
    )
    await expect(start(storage)).rejects.toMatchObject(notAtomic)
  })

  test('rejects an insertItem() that returns true twice', async () => {
    const items = new Map<string, string>()
    const storage = driver(
      {
        insertItem(key: string, value: string) {
          if (!items.has(key)) items.set(key, value)
          return true
        },
      },
      items,
    )
    await expect(start(storage)).rejects.toMatchObject(notAtomic)
  })

  // The natural mistake: read, then write. Measured on unstorage: 50 racers, 50 winners. Sequential calls do not reveal
  // it.
  test('rejects an insertItem() that reads first and writes later', async () => {
    const items = new Map<string, string>()
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
    const storage = driver(
      {
        async insertItem(key: string, value: string) {
          await turn()
          if (items.has(key)) return false
          await turn()
          items.set(key, value)
          return true
        },
      },
      items,
    )
    await expect(start(storage)).rejects.toMatchObject(notAtomic)
  })

  test.each(['getItem', 'insertItem', 'incrementItem', 'removeItem', 'commit'])(
    'the error includes what %s() throws, also as its cause',
    async (method) => {
      const cause = new Error('connect ECONNREFUSED 127.0.0.1:6379')
      const thrown = driver({
        [method]() {
          throw cause
        },
      })
      const rejected = driver({ [method]: () => Promise.reject(cause) })
      for (const storage of [thrown, rejected]) {
        await expect(start(storage)).rejects.toMatchObject({
          ...failure('storage: broken cannot be used: connect ECONNREFUSED 127.0.0.1:6379'),
          cause,
        })
      }
    },
  )

  // The file driver of unstorage does this: it returns what it should throw.
  test('the error includes an error that getItem() returns', async () => {
    const storage = driver({ getItem: () => new Error('EACCES: permission denied') })
    await expect(start(storage)).rejects.toMatchObject(failure(expect.stringContaining('EACCES: permission denied')))
  })

  test('accepts a driver that parses the values that it reads', async () => {
    const items = new Map<string, string>()
    const storage = driver({ getItem: (key: string) => JSON.parse(items.get(key) ?? 'null') }, items)
    await expect(start(storage)).resolves.toBeDefined()
  })
})
