import { type Entry, type EntryKind, isJsonObject, type Json } from '@grantry/core'
import type { Members } from './differences.ts'
import type { EntryType } from './entry-type.ts'
import { refused } from './refusal.ts'

/** The step that has to follow a change: the revocation of what was issued, or that processes read the entry again. */
export type Unfinished = 'revoke' | 'renew'

/** An entry as administrators see it. */
export interface Managed<T extends object> {
  readonly id: string
  /** Changes with every change, and is never used again. */
  readonly version: string
  readonly value: T
  /** Labels of the administrator. */
  readonly tags: readonly string[]
  /** ISO 8601. */
  readonly createdAt: string
  readonly changedAt: string
  /** Names of secrets that were taken away or rotated out, the oldest first. They are not accepted again. */
  readonly formerSecrets?: readonly string[] | undefined
  /** The step that has not followed the last change, which failed in the middle. The next change performs it. */
  readonly unfinished?: Unfinished | undefined
}

/** What is stored of an entry. */
export type Stored<T extends object> = Omit<Managed<T>, 'id' | 'version'>

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((tag) => typeof tag === 'string')

/** Reads an entry. Returns `undefined` if a newer version, or another program, has written it. */
export function managedIn<T extends object>(
  { kind, idMember }: EntryType<T>,
  { id, version, value }: Entry,
): Managed<T> | undefined {
  if (!isJsonObject(value)) return undefined
  const { [kind]: members, tags, createdAt, changedAt, formerSecrets, unfinished } = value
  if (!isJsonObject(members) || members[idMember] !== id || !isTexts(tags)) return undefined
  return {
    id,
    version,
    value: members as unknown as T,
    tags,
    createdAt: String(createdAt),
    changedAt: String(changedAt),
    ...(isTexts(formerSecrets) && { formerSecrets }),
    ...((unfinished === 'revoke' || unfinished === 'renew') && { unfinished }),
  }
}

export const entryValueOf = <T extends object>(
  kind: EntryKind,
  { value, tags, createdAt, changedAt, formerSecrets = [], unfinished }: Stored<T>,
): Json =>
  ({
    [kind]: value,
    tags,
    createdAt,
    changedAt,
    ...(formerSecrets.length > 0 && { formerSecrets }),
    ...(unfinished !== undefined && { unfinished }),
  }) as unknown as Json

/**
 * Reads an entry.
 *
 * @throws RefusedError `unreadable`, if a newer version, or another program, has written it: it could be disabled
 */
export function readEntry<T extends object>(type: EntryType<T>, entry: Entry): Managed<T> {
  const managed = managedIn(type, entry)
  if (managed !== undefined) return managed
  const message = `the stored ${type.noun} ${entry.id} has an unknown form; a newer version may have written it`
  throw refused('unreadable', message)
}

/** Returns an entry as it is shown: its id, its members without secrets, then its labels, version and times. */
export function shownEntry<T extends object>(type: EntryType<T>, managed: Managed<T>): Members {
  const { id, value, tags, version, createdAt, changedAt } = managed
  const members = Object.entries(value).map(([member, content]) => [member, type.shown(member, content)])
  return { [type.idMember]: id, ...Object.fromEntries(members), tags, version, createdAt, changedAt }
}
