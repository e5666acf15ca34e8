import type { Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import type { EntryManager } from '../manage-entries.ts'
import type { Managers } from '../open-administration.ts'

/** What a plan calls to read and change the entries of a kind. */
export type PlannedManager<T extends object> = Pick<
  EntryManager<T>,
  'show' | 'formerSecrets' | 'page' | 'replace' | 'remove'
> & {
  add(value: T, tags?: readonly string[]): Promise<unknown>
}

/** An entry that is new, with what it needs besides the members in the file. */
export interface Completed {
  readonly value: Members
  /** A new secret, which is not stored and must reach the administrator before the entry is. */
  readonly secret?: string | undefined
}

/** How a plan treats entries of a kind. */
export interface PlannedKind<T extends object = Members> {
  readonly type: EntryType<T>
  /** The member of the file that lists them. */
  readonly list: 'scopes' | 'clients' | 'users'
  /**
   * Returns the members that keep their value if the file does not have them. Among them is the switch of the kind: an
   * entry that was disabled by command must not be enabled by the next `apply`.
   */
  readonly kept: (declared: Members) => readonly string[]
  /** Members of the file that count for a new entry only: users change their passwords. */
  readonly initial: readonly string[]
  /** Members that are hashes of secrets or passwords. An export has them on demand only. */
  readonly hashes: readonly string[]
  /** Members whose lists have no order. */
  readonly sets: readonly string[]
  readonly managerOf: (managers: Managers) => PlannedManager<T>
  /** Completes an entry that is new. */
  readonly complete?: ((value: Members, newSecret: () => string) => Completed) | undefined
}

/** Plans treat all entries as members: the provider checks them. */
export const plannedKind = <T extends object>(kind: PlannedKind<T>): PlannedKind => kind as unknown as PlannedKind

export const idOf = ({ type }: PlannedKind, value: Members): string => String(value[type.idMember])

/** A declared entry, as it is after the plan. */
export interface PlannedEntry {
  readonly kind: PlannedKind
  readonly value: Members
  /** The file and the path in it, for errors. */
  readonly where: string
}
