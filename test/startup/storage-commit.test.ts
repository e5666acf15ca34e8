import { type AtomicDriver, createProvider, type DriverChanges, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const start = (storage: AtomicDriver) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage,
    clients: [],
    plugins: [],
  })

/** A driver on this map, with the given methods. */
const driver = (more: Partial<AtomicDriver>, items = new Map<string, string>()): AtomicDriver => ({
  ...mapDriver(items),
  name: 'broken',
  ...more,
})

const refusal = {
  name: 'TypeError',
  message:
    'storage: commit() of broken must write all changes, or none and return the keys that exist; correct it, or omit it, because it is optional (docs/guides/custom-driver.md)',
}

describe('rejects a commit() that', () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const map = () => {
    const items = new Map<string, string>()
    const good = mapDriver(items)
    return { items, good, commit: (changes: DriverChanges) => good.commit?.(changes) as true | readonly string[] }
  }
  const wrong: Readonly<Record<string, (parts: ReturnType<typeof map>) => AtomicDriver['commit']>> = {
    'returns nothing': () => () => undefined as never,
    'writes nothing': () => () => true,
    'never succeeds':
      () =>
      ({ create }) =>
        create.map(({ key }) => key),
    'returns false instead of the keys that exist':
      ({ commit }) =>
      (changes) =>
        commit(changes) === true ? true : (false as never),
    'returns other keys':
      ({ commit }) =>
      (changes) =>
        commit(changes) === true ? true : ['spent:other'],
    'writes although a key exists':
      ({ commit, items }) =>
      (changes) => {
        for (const { key, value } of changes.put) items.set(key, value)
        return commit(changes)
      },
    'does not remove':
      ({ commit }) =>
      (changes) =>
        commit({ ...changes, remove: [] }),
    'checks first and writes later':
      ({ commit, items }) =>
      async (changes) => {
        const existing = changes.create.flatMap(({ key }) => (items.has(key) ? [key] : []))
        if (existing.length > 0) return existing
        await turn()
        return commit({ ...changes, create: [], put: [...changes.create, ...changes.put] })
      },
  }
  test.each(Object.entries(wrong))('%s', async (_what, commit) => {
    const parts = map()
    await expect(start(driver({ commit: commit(parts) }, parts.items))).rejects.toMatchObject(refusal)
  })

  test('belongs to another driver: a wrapper changes the keys of all other methods', async () => {
    const items = new Map<string, string>()
    const good = mapDriver(items)
    const more: Partial<AtomicDriver> = {
      getItem: (key) => good.getItem(`a:${key}`),
      setItem: (key, value, options) => good.setItem(`a:${key}`, value, options),
      removeItem: (key, options) => good.removeItem(`a:${key}`, options),
      insertItem: (key, value, options) => good.insertItem(`a:${key}`, value, options),
    }
    const storage = driver(more, items)
    await expect(start(storage)).rejects.toMatchObject(refusal)
  })
})

test('accepts a driver without commit()', async () => {
  await expect(start(driver({ commit: undefined }))).resolves.toBeDefined()
})
