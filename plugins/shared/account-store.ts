import type { Json, MaybePromise } from '@grantry/core'
import { portSchema } from './config-schema.ts'

/** A user, as the user sees it. */
export interface Account {
  /** The id in tokens. Never belongs to another user, also after a removal. */
  readonly sub: string
  /** The name for the sign-in. */
  readonly username: string
  readonly email?: string | undefined
  /**
   * Whether the user has proved that mails to `email` arrive. Only such an address belongs to one account. One that is not
   * proved never becomes the name: do not store it, if names and addresses are the same for you.
   */
  readonly emailVerified: boolean
  /** Further claims, without `email` and `email_verified`. */
  readonly claims: Readonly<Record<string, Json>>
  /**
   * Another value after each change of the account, also by another process. Absent: two changes at the same moment both
   * succeed, and the later one remains.
   */
  readonly version?: string | undefined
}

/** An account to create. The store chooses its `sub`. */
export interface NewAccount {
  readonly username: string
  readonly email?: string | undefined
  readonly emailVerified: boolean
  /** The password itself. Store a hash only. Without one, the user cannot sign in with a password. */
  readonly password?: string | undefined
  readonly claims?: Readonly<Record<string, Json>> | undefined
}

/** The changes of an account. Absent members stay as they are. */
export interface AccountChanges {
  /** All further claims: those that are absent are removed. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
  /**
   * Some further claims: `null` removes one, and all others stay, also those that another process changes at the same
   * moment. Never together with `claims`.
   */
  readonly someClaims?: Readonly<Record<string, Json>> | undefined
  readonly email?: string | undefined
  readonly emailVerified?: boolean | undefined
  /** The new name for the sign-in. */
  readonly username?: string | undefined
  /** The new password itself. Store a hash only. */
  readonly password?: string | undefined
  /** The `version` that was read before. If the account has another one, nothing changes, and `change` returns `undefined`. */
  readonly version?: string | undefined
  /**
   * Whether the change is still allowed. Call it after the work of the hash, directly before the write: meanwhile, the
   * user can be revoked. Unless it is `true`, nothing changes, and `change` returns `undefined`. With a new password,
   * this function also ends the sessions and tokens of the user. A store that revokes the user itself calls the
   * function before the write and after it; if the result is then not `true`, the store restores the former password.
   */
  readonly isStillAllowed?: (() => Promise<boolean>) | undefined
}

/**
 * The accounts of users who manage themselves. Names are compared without case, and so are addresses. Unknown names and
 * addresses must take as long as known ones. Every function may reject: the user then gets a page for a failure.
 */
export interface AccountStore {
  /** The further claims that it can store. Default: all. */
  readonly claimNames?: readonly string[] | undefined
  find(sub: string): MaybePromise<Account | undefined>
  findByName(username: string): MaybePromise<Account | undefined>
  /** Finds the account that has verified this address. */
  findByEmail(email: string): MaybePromise<Account | undefined>
  /** Creates an account; `taken` if another one has the name, or has verified the address. Atomic across processes. */
  create(account: NewAccount): MaybePromise<Account | 'taken'>
  /** `taken` if another account has the name, or has verified the address; `undefined` if there is no such account. */
  change(sub: string, changes: AccountChanges): MaybePromise<Account | 'taken' | undefined>
  /** Whether a password is that of the account. Absent: users cannot prove their password. */
  readonly checkPassword?: ((sub: string, password: string) => MaybePromise<boolean>) | undefined
  /** Removes an account. Returns whether there was one. Absent: users cannot remove themselves. */
  readonly remove?: ((sub: string) => MaybePromise<boolean>) | undefined
}

export const accountStoreSchema = portSchema<AccountStore>('a store of accounts', {
  find: true,
  findByName: true,
  findByEmail: true,
  create: true,
  change: true,
})
