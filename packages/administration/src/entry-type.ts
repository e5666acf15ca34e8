import type { EntryKind, RevocationTarget } from '@grantry/core'

/**
 * The differences between entries of one kind and those of others. Its words appear in errors and in the audit trail.
 */
export interface EntryType<T extends object> {
  readonly kind: EntryKind
  /** Such as `client`: errors call it `the client web`. */
  readonly noun: string
  /** The member that is the id. It never changes. */
  readonly idMember: string
  readonly isEnabled: (value: T) => boolean
  /**
   * The member that disables an entry. A change of this member alone is not checked, so that an entry with mistakes can
   * be disabled, too.
   */
  readonly switch: string
  /**
   * Returns the target to revoke when the entry is disabled or removed; absent if nothing is issued to entries of this
   * kind.
   */
  readonly revocation?: (id: string) => RevocationTarget
  /** Whether a change ends what was issued, as if the entry were disabled and enabled again. Default: none does. */
  readonly endsWith?: ((before: T, after: T) => boolean) | undefined
  /**
   * Whether a change takes something away, so that no process may decide by the earlier entry any more. `now` is in
   * milliseconds. Default: no change does.
   */
  readonly takesAway?: ((before: T, after: T, now: number) => boolean) | undefined
  /** A member that ends what was issued whenever a change names it, even with its current value, as after a failure. */
  readonly endingMember?: string | undefined
  /** Whether what was issued to an earlier entry with the same id stays active. Default: no. */
  readonly keepsTokens?: true
  /** Returns why an allowed entry is of no use, one sentence each. */
  readonly gaps?: ((value: T) => readonly string[]) | undefined
  /** Where the names of former secrets are kept when an entry is removed; absent if it has no secrets. */
  readonly formerKind?: EntryKind | undefined
  /** Returns a member as it is shown and recorded: without a secret, a password or a hash of one. */
  readonly shown: (member: string, value: unknown) => unknown
}
