import { type DirectorySchemas, type MemberTexts, member } from '@grantry/core'
import * as v from 'valibot'
import type { Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import type { EditOptions, EntryManager } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import type { Managers } from '../managers.ts'
import type { RotatedSecret } from '../secrets.ts'

/** The members of a kind: their schemas, and the texts that administrators read. */
export interface DescribedKind {
  readonly schema: v.GenericSchema
  readonly texts: MemberTexts
}

export const idSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(100))

/** The member that entries of every kind have. */
export const tags = member(
  v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(100))), v.maxLength(50))),
  { title: 'Tags', text: 'Labels for administrators, to find it again.', group: 'application' },
)

/** The functions that the managers of all kinds have. */
export type KindManager<T extends object> = Omit<EntryManager<T>, 'add' | 'remove'> & {
  add(value: T, tags?: readonly string[]): Promise<unknown>
  remove(id: string, options?: Pick<EditOptions, 'version'>): Promise<void>
}

/** An entry, and its secret if this change has created one. The secret is not stored, and cannot be shown again. */
export interface WithNewSecret<T extends object> {
  readonly entry: Managed<T>
  readonly secret?: string | undefined
}

/** A new entry, completed with members that the file does not have. */
export interface Completed {
  readonly value: Members
  /** A new secret, which is not stored and must reach the administrator before the entry is. */
  readonly secret?: string | undefined
}

/** How a plan treats entries of a kind. */
export interface PlanRules {
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
  /** Completes an entry that is new. */
  readonly complete?: ((value: Members, newSecret: () => string) => Completed) | undefined
}

/** A column of a list: its heading, and the text in it. */
export type Column<T extends object> = readonly [heading: string, textOf: (entry: Managed<T>) => string]

/** Entries of one kind, as the API, the commands, plans and the audit trail treat them. */
export interface Kind<T extends object = Members> {
  readonly type: EntryType<T>
  /** The segment of the path in the API, the group of commands, and the member of files and of the configuration. */
  readonly list: keyof Managers
  /** The name of the kind in operation ids, such as `Client`. */
  readonly title: string
  /** Returns the members, for the description of the API. The provider checks them. */
  readonly describe: (schemas: DirectorySchemas) => DescribedKind
  /** Members that are set in another way, with how. */
  readonly readOnly: Readonly<Record<string, string>>
  /** Members that only an addition can set, with how they change. */
  readonly notInChanges?: Readonly<Record<string, string>> | undefined
  /** Whether an addition without an id gets one. */
  readonly hasOwnId?: boolean | undefined
  /** Administrators of the API cannot change the entries that they are themselves. */
  readonly protects?: 'clients' | 'administrators' | undefined
  /** The heading of the ids in a list, such as `ID`. */
  readonly heading: string
  /** The columns of a list between the state and the labels. */
  readonly columns: readonly Column<T>[]
  readonly managerOf: (managers: Managers) => KindManager<T>
  /** Adds an entry. @param options of the kind, such as `withSecret` */
  readonly add: (
    managers: Managers,
    value: T,
    tags: readonly string[],
    options?: { readonly withSecret?: boolean | undefined },
  ) => Promise<WithNewSecret<T>>
  /** Adds a secret, after which earlier ones end. Absent: entries of this kind have no secrets. */
  readonly rotation?:
    | {
        /** The summary of the operation in the description of the API. */
        readonly summary: string
        readonly rotate: (
          managers: Managers,
          id: string,
          overlap: number,
          options?: Pick<EditOptions, 'version'>,
        ) => Promise<WithNewSecret<T> & RotatedSecret>
      }
    | undefined
  /** Removes an entry that others need. Absent: no entry needs one of this kind. */
  readonly forceRemoval?:
    | ((managers: Managers, id: string, options?: Pick<EditOptions, 'version'>) => Promise<void>)
    | undefined
  /** Absent: files do not declare entries of this kind. */
  readonly plan?: PlanRules | undefined
}

/** Treats entries as members, where the type of a kind does not matter: the provider checks them. */
export const asMembers = <T extends object>(kind: Kind<T>): Kind => kind as unknown as Kind

/** Returns a list as one text of a table. */
export const listText = (member: unknown): string =>
  Array.isArray(member) && member.length > 0 ? member.join(' ') : '-'
