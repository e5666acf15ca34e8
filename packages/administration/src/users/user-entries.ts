import type { Entry, EntryKind, EntryStore, Json, Runtime } from '@grantry/core'
import { refused } from '../refusal.ts'
import {
  type ClaimedName,
  type ClaimedText,
  createUserNames,
  type UserNames,
  userAddress,
  userName,
} from './user-names.ts'

type Changes = Pick<EntryStore, 'create' | 'replace' | 'remove'>

/** The texts that belong to one user each, with the functions that claim them. */
type Claims = readonly (readonly [ClaimedText, UserNames])[]

/** The text that a user loses by a change, and the one that was claimed for the change. */
interface ClaimChange {
  readonly names: UserNames
  readonly old: ClaimedName | undefined
  readonly claimed: ClaimedName | undefined
}

/** Returns the text that a user is to have. */
function newTextIn(text: ClaimedText, id: string, value: Json): string | undefined {
  const claimed = text.of({ id, version: '', value })
  if (claimed === undefined) throw new TypeError(`The new value of the user ${id} is not a user`)
  return claimed.text
}

/** Claims a text for a user. Reads the old one before the change: it could be claimed again afterwards. */
async function changeOf(names: UserNames, id: string, before: string | undefined, after: string | undefined) {
  const old = before === undefined ? undefined : await names.find(before, id)
  if (after === undefined) return { names, old, claimed: undefined }
  if (before === undefined || names.fold(before) !== names.fold(after)) {
    return { names, old, claimed: await names.claim(after, id) }
  }
  // Only a text that was lost is claimed again.
  return { names, old: undefined, claimed: old ?? (await names.claim(after, id)) }
}

const releaseNew = async (changes: readonly ClaimChange[]): Promise<void> => {
  for (const { names, claimed } of changes) if (claimed?.isNew === true) await names.release(claimed)
}

const releaseOld = async (changes: readonly ClaimChange[]): Promise<void> => {
  for (const { names, old } of changes) if (old !== undefined) await names.release(old)
}

/** Claims all texts of a user, or none. */
async function claimAll(claims: Claims, id: string, present: Entry | undefined, value: Json) {
  const changes: ClaimChange[] = []
  try {
    for (const [text, names] of claims) {
      const before = present && text.of(present)?.text
      changes.push(await changeOf(names, id, before, newTextIn(text, id, value)))
    }
    return changes
  } catch (cause) {
    await releaseNew(changes)
    throw cause
  }
}

function userChanges(entries: EntryStore, claims: Claims): Changes {
  return {
    async create(kind, id, value) {
      const changes = await claimAll(claims, id, undefined, value)
      const created = await entries.create(kind, id, value)
      if (created !== undefined) return created
      await releaseNew(changes)
      if ((await entries.get(kind, id)) !== undefined) return undefined
      const username = newTextIn(userName, id, value) ?? ''
      const message = `the sub ${id} is used up: its user was removed, or another administrator has just added one with the name ${username}; use another sub`
      throw refused('exists', message, { member: 'sub' })
    },
    async replace(kind, id, version, value) {
      const present = await entries.get(kind, id)
      // Nothing may be claimed for a change that is not possible.
      if (present?.version !== version) return undefined
      const changes = await claimAll(claims, id, present, value)
      const replaced = await entries.replace(kind, id, version, value)
      await (replaced === undefined ? releaseNew : releaseOld)(changes)
      return replaced
    },
    async remove(kind, id, version) {
      const present = await entries.get(kind, id)
      const changes: ClaimChange[] = []
      for (const [text, names] of claims) {
        const before = present && text.of(present)?.text
        changes.push(await changeOf(names, id, before, undefined))
      }
      const isRemoved = await entries.remove(kind, id, version)
      if (isRemoved) await releaseOld(changes)
      return isRemoved
    },
  }
}

/**
 * Returns entries in which each change of a user keeps the names and addresses: a new one is claimed before, the old
 * one released afterwards. A process can be killed after each write. The worst result is a name that leads to a user
 * who does not have it. No sign-in accepts it, and the next user who wants the name gets it.
 */
export function userEntries(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): EntryStore {
  const users = userChanges(
    entries,
    [userName, userAddress].map((text) => [text, createUserNames(entries, runtime, text)] as const),
  )
  const of = (kind: EntryKind): Changes => (kind === 'user' ? users : entries)
  return {
    ...entries,
    create: (kind, id, value) => of(kind).create(kind, id, value),
    replace: (kind, id, version, value) => of(kind).replace(kind, id, version, value),
    remove: (kind, id, version) => of(kind).remove(kind, id, version),
  }
}
