// Drivers whose commit() does something else than all or nothing.
import type { AtomicDriver, DriverChanges } from '@grantry/core'
import { type Broken, over, turn } from './broken.ts'

const none = 'commits nothing if an item exists, and returns the keys of those that do'
const all = 'commits all changes if no item exists'

type Outcome = true | readonly string[]
type Commit = (changes: DriverChanges) => Outcome | Promise<Outcome>

/** A driver with another `commit()`, which gets the right one. */
const committing = (replace: (commit: Commit, good: AtomicDriver) => Commit) =>
  over((good) => {
    const { commit } = good
    if (commit === undefined) throw new TypeError('the driver has no commit()')
    return { commit: replace(commit, good) }
  })

const existingOf = async (good: AtomicDriver, { create }: DriverChanges): Promise<readonly string[]> => {
  const keys = await Promise.all(create.map(async ({ key }) => ((await good.getItem(key)) === null ? [] : [key])))
  return keys.flat()
}

async function write(good: AtomicDriver, items: DriverChanges['put']): Promise<void> {
  for (const { key, value, ttl } of items) await good.setItem(key, value, { ttl })
}

export const brokenCommits: readonly Broken[] = [
  {
    fault: 'commit() writes the items in put although an item exists',
    proof: none,
    sentence: /after a refused commit\(\) the (?:absent|existing) item in put should be /u,
    subject: committing((commit, good) => async (changes) => {
      await write(good, changes.put)
      return commit(changes)
    }),
  },
  {
    fault: 'commit() creates the absent items although another exists',
    proof: none,
    sentence: /after a refused commit\(\) the absent item in create should be nothing/u,
    subject: committing((commit, good) => async (changes) => {
      const existing = await existingOf(good, changes)
      if (existing.length === 0) return commit(changes)
      await write(
        good,
        changes.create.filter(({ key }) => !existing.includes(key)),
      )
      return existing
    }),
  },
  {
    fault: 'commit() removes although an item exists',
    proof: none,
    sentence: /after a refused commit\(\) the item in remove should be/u,
    subject: committing((commit, good) => async (changes) => {
      for (const key of changes.remove) await good.removeItem(key, {})
      return commit(changes)
    }),
  },
  {
    fault: 'commit() replaces an existing item',
    proof: none,
    sentence: /commit\(\) of 1 items of which 1 exist should return their keys, and only those, but returned true/u,
    subject: committing((_, good) => async ({ create, put, remove }): Promise<Outcome> => {
      await write(good, [...create, ...put])
      for (const key of remove) await good.removeItem(key, {})
      return true
    }),
  },
  {
    fault: 'commit() returns the keys of all items to create',
    proof: none,
    sentence: /commit\(\) of 2 items of which 1 exist should return their keys, and only those/u,
    subject: committing(
      (commit) => async (changes) => ((await commit(changes)) === true ? true : changes.create.map(({ key }) => key)),
    ),
  },
  {
    fault: 'commit() returns the first existing key only',
    proof: none,
    sentence: /commit\(\) of 4 items of which 2 exist should return their keys, and only those/u,
    subject: committing((commit) => async (changes) => {
      const outcome = await commit(changes)
      return outcome === true ? true : outcome.slice(0, 1)
    }),
  },
  {
    fault: 'commit() returns false',
    proof: none,
    sentence: /commit\(\) must return true, or an array of the keys in create that exist, but returned false/u,
    subject: committing(
      (commit) =>
        async (changes): Promise<Outcome> =>
          (await commit(changes)) === true ? true : (false as never),
    ),
  },
  {
    fault: 'commit() returns keys of its own storage',
    proof: none,
    sentence: /commit\(\) must return true, or an array of the keys in create that exist, but returned \["app:/u,
    subject: committing((commit) => async (changes) => {
      const outcome = await commit(changes)
      return outcome === true ? true : outcome.map((key) => `app:${key}`)
    }),
  },
  {
    fault: 'commit() writes only a part',
    proof: all,
    sentence: /after commit\(\) an existing item in put should be/u,
    subject: committing((commit) => (changes) => commit({ ...changes, put: changes.put.slice(0, 1) })),
  },
  {
    fault: 'commit() does not remove',
    proof: all,
    sentence: /after commit\(\) an item in remove should be nothing/u,
    subject: committing((commit) => (changes) => commit({ ...changes, remove: [] })),
  },
  {
    fault: 'insertItem() does not see what commit() has created',
    proof: all,
    sentence: /insertItem\(\) over an item that commit\(\) has created should return false/u,
    subject: over((good) => {
      const inserted = new Set<string>()
      return {
        ...(good.commit && { commit: good.commit }),
        async insertItem(key, value, options) {
          if (inserted.has(key)) return false
          inserted.add(key)
          await good.setItem(key, value, options)
          return true
        },
      }
    }),
  },
  {
    fault: 'commit() ignores the ttl',
    proof: 'expires the items of a commit after their ttl',
    sentence: /an item that was committed with a ttl of 1 s should be gone after 1 s/u,
    subject: committing((commit) => ({ create, put, remove }) => {
      const lasting = (items: DriverChanges['put']) => items.map((item) => ({ ...item, ttl: 3600 }))
      return commit({ create: lasting(create), put: lasting(put), remove })
    }),
  },
  {
    fault: 'commit() uses the ttl of the first item for all',
    proof: 'expires the items of a commit after their ttl',
    sentence: /an item that was committed with a ttl of (?:\d+ s should live for \d+ s|an hour expired)/u,
    subject: committing((commit) => ({ create, put, remove }) => {
      const ttl = create[0]?.ttl ?? put[0]?.ttl ?? 1
      return commit({ create, put: put.map((item) => ({ ...item, ttl })), remove })
    }),
  },
  {
    fault: 'commit() checks first and writes later',
    proof: 'performs each of many concurrent commits completely or not at all',
    sentence: /of concurrent calls of commit\(\) with one key, at most 1 should return true, but \d+ did/u,
    subject: committing((commit, good) => async (changes) => {
      const existing = await existingOf(good, changes)
      if (existing.length > 0) return existing
      await turn()
      return commit({ create: [], put: [...changes.create, ...changes.put], remove: changes.remove })
    }),
  },
  {
    fault: 'commit() creates one item after the other, and stops at the first that exists',
    proof: 'performs each of many concurrent commits completely or not at all',
    sentence:
      /a commit\(\) that did not return true has created an item|should return keys that another call has created/u,
    subject: committing((_, good) => async ({ create, put, remove }) => {
      for (const { key, value, ttl } of create) {
        if (!(await good.insertItem(key, value, { ttl }))) return [key]
        await turn()
      }
      await write(good, put)
      for (const key of remove) await good.removeItem(key, {})
      return true
    }),
  },
  {
    fault: 'commit() shows the created item before the items in put',
    proof: 'never shows a part of a commit to a reader',
    sentence: /a reader sees an item that commit\(\) has created, but \d of the 3 items in put are still absent/u,
    subject: committing((commit, good) => async ({ create, put, remove }) => {
      const outcome = await commit({ create, put: [], remove })
      if (outcome !== true) return outcome
      await turn()
      await write(good, put)
      return true
    }),
  },
  {
    fault: 'commit() shows the created item before it removes',
    proof: 'never shows a part of a commit to a reader',
    sentence: /the item in remove is still there/u,
    subject: committing((commit, good) => async (changes) => {
      const outcome = await commit({ ...changes, remove: [] })
      if (outcome !== true) return outcome
      await turn()
      for (const key of changes.remove) await good.removeItem(key, {})
      return true
    }),
  },
]
