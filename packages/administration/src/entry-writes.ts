import {
  type Entry,
  type EntryKind,
  type EntryStore,
  entryProblem,
  type Json,
  type RevocationTarget,
} from '@grantry/core'
import type { Administrator, Audit, NoteEffect } from './audit.ts'
import { differences, type Members } from './differences.ts'
import type { EntryType } from './entry-type.ts'
import { createRemovedSecrets, formerSecretsOf, type RemovedSecrets } from './former-secrets.ts'
import { entryValueOf, type Managed, managedIn, readEntry, type Stored, type Unfinished } from './managed-entry.ts'
import { refused } from './refusal.ts'
import { takeBack } from './take-back.ts'

export interface ManageDeps<T extends object> {
  readonly entries: EntryStore
  /** Rejects with a RefusedError when the provider would refuse the value. */
  readonly check: (value: T) => Promise<void>
  /** Makes what was issued to a client or a user inactive. */
  readonly revoke: (target: RevocationTarget) => Promise<void>
  /** Makes processes that remember an entry read it again before they decide by it. */
  readonly renew?: ((id: string) => Promise<void>) | undefined
  /** Removes the records of plugins about a removed entry. */
  readonly forget?: ((id: string) => Promise<void>) | undefined
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The writes of entries of one kind: each is checked, recorded, and ends what the entry may no longer have. */
export interface EntryWrites<T extends object> {
  /** Returns an entry, in the version that the administrator has seen. */
  existing(id: string, version: string | undefined): Promise<Entry>
  create(stored: Stored<T>): Promise<Managed<T>>
  replace(
    current: Managed<T>,
    next: Stored<T>,
    options: {
      readonly action: string
      readonly endsTokens: boolean
      readonly isStillAllowed?: (() => Promise<boolean>) | undefined
    },
  ): Promise<Managed<T>>
  remove(entry: Entry): Promise<void>
}

/** Returns the members of an entry that are compared, with its labels. */
const comparable = ({ value, tags }: Pick<Stored<object>, 'value' | 'tags'>): Members => ({ ...value, tags })

const refusalsOf = ({ noun, idMember }: Pick<EntryType<object>, 'noun' | 'idMember'>) => ({
  missing: (id: string) => refused('not_found', `there is no ${noun} ${id} in the storage; check the spelling`),
  outdated: (id: string) => refused('outdated', `the ${noun} ${id} was changed meanwhile; look at it and try again`),
  taken: (id: string) =>
    refused('exists', `there is a ${noun} ${id} already; edit it, or ${noun === 'tenant' ? 'end' : 'remove'} it`, {
      member: idMember,
    }),
})

/** Refuses what the storage would refuse, before anything is recorded. */
function storedValueOf<T extends object>(kind: EntryKind, id: string, stored: Stored<T>): Json {
  const value = entryValueOf(kind, stored)
  const problem = entryProblem(id, value)
  if (problem !== undefined) throw refused('invalid', problem)
  return value
}

/** Returns the value of a new entry. Refuses an entry with a secret that a removed one had. */
async function newValueOf<T extends object>(
  type: EntryType<T>,
  { find }: Pick<RemovedSecrets, 'find'>,
  id: string,
  stored: Stored<T>,
): Promise<Json> {
  const formerSecrets = formerSecretsOf(type, { id, value: {}, formerSecrets: await find(id) }, stored.value)
  return storedValueOf(type.kind, id, { ...stored, formerSecrets })
}

/** Disables an entry, if it is not. Returns `undefined` if it was changed meanwhile. */
async function disabled<T extends object>(
  type: EntryType<T>,
  entries: Pick<EntryStore, 'replace'>,
  entry: Entry,
): Promise<Entry | undefined> {
  const managed = managedIn(type, entry)
  if (managed === undefined || !type.isEnabled(managed.value)) return entry
  const value = entryValueOf(type.kind, { ...managed, value: { ...managed.value, [type.switch]: false } })
  return entries.replace(type.kind, entry.id, entry.version, value)
}

/** The effect of disabling an entry, for the audit trail. */
function switchedOff<T extends object>({ kind, ...type }: EntryType<T>, managed: Managed<T> | undefined) {
  const was = (managed?.value as Members | undefined)?.[type.switch]
  const before = was === undefined ? {} : { [type.switch]: was }
  return { action: `${kind}_changed`, before, after: { [type.switch]: false } }
}

/** Returns the step that has to follow a change, or an earlier change that has failed before its step. */
function followingOf<T extends object>(
  type: EntryType<T>,
  current: Managed<T>,
  next: T,
  { endsAll, now }: { readonly endsAll: boolean; readonly now: number },
): Unfinished | undefined {
  // Also if the entry was already disabled, because the revocation may have failed then.
  if (endsAll || !type.isEnabled(next)) return 'revoke'
  const takesAway = type.takesAway?.(current.value, next, now) === true
  return takesAway || current.unfinished === 'renew' ? 'renew' : undefined
}

/** Returns a function that converts members to their form in the audit trail. */
const shownBy =
  (type: Pick<EntryType<object>, 'shown'>) =>
  (members: Members): Members =>
    Object.fromEntries(Object.entries(members).map(([member, value]) => [member, type.shown(member, value)]))

const hasOnly = (name: string, parts: readonly Members[]): boolean =>
  parts.flatMap((members) => Object.keys(members)).every((member) => member === name)

/** Creates the function that writes a change, and then performs the step that has to follow. */
function createWritten<T extends object>(
  type: EntryType<T>,
  { entries, renew, end }: Pick<ManageDeps<T>, 'entries' | 'renew'> & { readonly end: (id: string) => Promise<void> },
) {
  const { kind } = type
  const { outdated } = refusalsOf(type)
  return async (
    current: Managed<T>,
    stored: Stored<T>,
    unfinished: Unfinished | undefined,
    endAgain?: () => Promise<boolean>,
  ): Promise<Entry> => {
    const { id, version } = current
    const value = entryValueOf(kind, stored)
    // Marked as unfinished: if the following step fails, another change, or the next plan, performs it.
    const begun = unfinished === undefined ? value : entryValueOf(kind, { ...stored, unfinished })
    const entry = await entries.replace(kind, id, version, begun)
    if (entry === undefined) throw outdated(id)
    if (unfinished === undefined) return entry
    if (unfinished === 'revoke' && endAgain !== undefined) {
      if ((await endAgain()) !== true) {
        // A revocation in between counts as an earlier one.
        await takeBack(type, { current, stored, written: entry }, entries)
        throw outdated(id)
      }
    } else await (unfinished === 'revoke' ? end(id) : renew?.(id))
    // A failure here is harmless: at most, the same step is performed again.
    const done = await entries.replace(kind, id, entry.version, value).catch(() => undefined)
    return done ?? { ...entry, value }
  }
}

export function createWrites<T extends object>(
  type: EntryType<T>,
  { entries, check, audit, revoke, renew, forget, now }: ManageDeps<T>,
  by: Administrator,
): EntryWrites<T> {
  const { kind, noun, idMember, isEnabled, revocation } = type
  const { missing, outdated, taken } = refusalsOf(type)
  const [removedSecrets, shown] = [createRemovedSecrets(type, entries), shownBy(type)]
  const idOf = (value: T): string => String((value as Members)[idMember])

  async function end(id: string, note?: NoteEffect): Promise<void> {
    if (revocation === undefined) return
    await revoke(revocation(id))
    note?.({ action: `${kind}_revoked` })
  }

  const written = createWritten(type, { entries, renew, end })

  return {
    async existing(id, version) {
      const entry = await entries.get(kind, id)
      if (entry === undefined) throw missing(id)
      if (version !== undefined && version !== entry.version) throw outdated(id)
      return entry
    },
    async create(stored) {
      const id = idOf(stored.value)
      const value = await newValueOf(type, removedSecrets, id, stored)
      await check(stored.value)
      const endsTokens = revocation !== undefined && type.keepsTokens !== true
      // Checked before the revocation, so that the tokens of an existing entry stay active.
      if (endsTokens && (await entries.get(kind, id)) !== undefined) throw taken(id)
      return audit(by, { action: `${kind}_added`, id, after: shown(comparable(stored)) }, async (note) => {
        // Tokens of an earlier entry with this id must not become active again.
        if (endsTokens) await end(id, note)
        const entry = await entries.create(kind, id, value)
        if (entry === undefined) throw taken(id)
        return readEntry(type, entry)
      })
    },
    async replace(entry, next, { action, endsTokens, isStillAllowed }) {
      const { id } = entry
      if (idOf(next.value) !== id) {
        const message = `the ${idMember} of the ${noun} ${id} cannot change; add another ${noun}`
        throw refused('invalid', message, { member: idMember })
      }
      const stored = { ...next, formerSecrets: formerSecretsOf(type, entry, next.value), unfinished: undefined }
      storedValueOf(kind, id, stored)
      const before = differences(comparable(entry), comparable(next))
      const after = differences(comparable(next), comparable(entry))
      const [was, is] = [isEnabled(entry.value), isEnabled(next.value)]
      const endAgain = endsTokens ? isStillAllowed : undefined
      if (is || !hasOnly(type.switch, [before, after])) await check(next.value)
      const endsAll = endsTokens || entry.unfinished === 'revoke' || type.endsWith?.(entry.value, next.value) === true
      const unfinished = followingOf(type, entry, next.value, { endsAll, now: now() })
      return audit(by, { action, id, before: shown(before), after: shown(after) }, async (note) => {
        if (isStillAllowed !== undefined && (await isStillAllowed()) !== true) throw outdated(id)
        // Revokes once more after the change: a process that remembered the entry could issue tokens for some seconds
        // after it was disabled. The revocation before the change ensures that nothing is left if this process dies.
        if (endAgain === undefined && (endsAll || (is && !was))) await end(id, endsAll ? undefined : note)
        return readEntry(type, await written(entry, stored, unfinished, endAgain))
      })
    },
    async remove(entry) {
      const [{ id }, managed] = [entry, managedIn(type, entry)]
      const change = { action: `${kind}_removed`, id, before: managed && shown(comparable(managed)) }
      await audit(by, change, async (note) => {
        // Disables the entry first: if the revocation fails, the entry still exists, and the removal can be repeated.
        const last = revocation === undefined ? entry : await disabled(type, entries, entry)
        if (last === undefined) throw outdated(id)
        await end(id, note)
        await forget?.(id)
        // Recorded, because disabling an entry also ends its tokens.
        if (last !== entry) note(switchedOff(type, managed))
        await removedSecrets.keep(id, managed?.formerSecrets)
        if (!(await entries.remove(kind, id, last.version))) throw outdated(id)
      })
    },
  }
}
