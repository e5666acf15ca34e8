import type { EntryKind, EntryStore, Json, Runtime } from '@grantry/core'
import { refused } from '../refusal.ts'
import { createUserNames, type UserNames, usernameOf } from './user-names.ts'
import { foldedUsername } from './username.ts'

type Changes = Pick<EntryStore, 'create' | 'replace' | 'remove'>

/** Returns the name that a user is to have. */
function newNameIn(id: string, value: Json): string {
  const name = usernameOf({ id, version: '', value })
  if (name === undefined) throw new TypeError(`The new value of the user ${id} is no user`)
  return name
}

function userChanges(entries: EntryStore, names: UserNames): Changes {
  /** Returns the name that the user loses by a change, and the one that it claims. */
  async function namesOfChange(id: string, before: string | undefined, after: string) {
    const old = before === undefined ? undefined : await names.find(before, id)
    if (before === undefined || foldedUsername(before) !== foldedUsername(after))
      return { old, claimed: await names.claim(after, id) }
    // Only a name that was lost is claimed again.
    return { old: undefined, claimed: old ?? (await names.claim(after, id)) }
  }

  return {
    async create(kind, id, value) {
      const username = newNameIn(id, value)
      const claimed = await names.claim(username, id)
      const created = await entries.create(kind, id, value)
      if (created !== undefined) return created
      if (claimed.isNew) await names.release(claimed)
      if ((await entries.get(kind, id)) !== undefined) return undefined
      const message = `the sub ${id} is used up: its user was removed, or another administrator has just added one with the name ${username}; use another sub`
      throw refused('exists', message, { member: 'sub' })
    },
    async replace(kind, id, version, value) {
      const present = await entries.get(kind, id)
      // No name may be claimed for a change that is not possible.
      if (present?.version !== version) return undefined
      // The old name is read before the change: it could be claimed again afterwards, and is not released then.
      const { old, claimed } = await namesOfChange(id, usernameOf(present), newNameIn(id, value))
      const replaced = await entries.replace(kind, id, version, value)
      if (replaced === undefined && claimed.isNew) await names.release(claimed)
      if (replaced !== undefined && old !== undefined) await names.release(old)
      return replaced
    },
    async remove(kind, id, version) {
      const present = await entries.get(kind, id)
      const name = present && usernameOf(present)
      const old = name === undefined ? undefined : await names.find(name, id)
      const isRemoved = await entries.remove(kind, id, version)
      if (isRemoved && old !== undefined) await names.release(old)
      return isRemoved
    },
  }
}

/**
 * Returns entries in which each change of a user keeps the names: a new one is claimed before, the old one released
 * afterwards. A process can be killed after each write. What it leaves is a name that leads to a user who does not have it:
 * it counts for no sign-in, and the next user who wants it gets it.
 */
export function userEntries(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): EntryStore {
  const users = userChanges(entries, createUserNames(entries, runtime))
  const of = (kind: EntryKind): Changes => (kind === 'user' ? users : entries)
  return {
    ...entries,
    create: (kind, id, value) => of(kind).create(kind, id, value),
    replace: (kind, id, version, value) => of(kind).replace(kind, id, version, value),
    remove: (kind, id, version) => of(kind).remove(kind, id, version),
  }
}
