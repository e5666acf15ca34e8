import type { EntryKind, RevocationTarget } from '@grantry/core'

/** What is special about entries of a kind. The words of it appear in errors and in the audit trail. */
export interface EntryType<T extends object> {
  readonly kind: EntryKind
  /** Such as `client`: errors call it `the client web`. */
  readonly noun: string
  /** The member that is the id. It never changes. */
  readonly idMember: string
  readonly isEnabled: (value: T) => boolean
  /** The member that disables an entry. A change of it alone is not checked: it must work whatever has become of the rest. */
  readonly switch: string
  /** What to revoke when the entry is disabled or removed; absent if nothing is issued to it. */
  readonly revocation?: (id: string) => RevocationTarget
  /** Whether a change ends what was issued, as if the entry were disabled and enabled again. Default: none does. */
  readonly endsWith?: ((before: T, after: T) => boolean) | undefined
  /** Whether a change takes away what a process may not decide by any more, at a time (milliseconds). Default: none does. */
  readonly takesAway?: ((before: T, after: T, now: number) => boolean) | undefined
  /** A member that ends what was issued whenever a change names it: also with the value that it has, after a failure. */
  readonly endingMember?: string | undefined
  /** Whether what was issued to an earlier entry with the same id stays active. Default: no. */
  readonly keepsTokens?: true
  /** Returns why an entry that is allowed can do nothing, one sentence each. */
  readonly gaps?: ((value: T) => readonly string[]) | undefined
  /** Where the names of former secrets are kept when an entry is removed; absent if it has no secrets. */
  readonly formerKind?: EntryKind | undefined
  /** Returns a member as it is shown and recorded: without a secret, a password or a hash of one. */
  readonly shown: (member: string, value: unknown) => unknown
}
