import type { Json } from '@grantry/core'

type Claims = Readonly<Record<string, Json>>

/** An account in the table. */
export interface SqlAccount {
  readonly sub: string
  readonly username: string
  readonly email?: string | undefined
  readonly emailVerified: boolean
  readonly claims: Claims
  /** Changes with each change of the row. */
  readonly version: string
}

/** The accounts of a table: a store for `selfService()` of `@grantry/plugins/self-service`. */
export interface SqlAccounts {
  /** The claims that have a column, without the address. */
  readonly claimNames: readonly string[]
  /** Checks the table. @throws Error that begins with the path of the setting that is wrong */
  open(): Promise<void>
  close(): Promise<void>
  find(sub: string): Promise<SqlAccount | undefined>
  findByName(username: string): Promise<SqlAccount | undefined>
  findByEmail(email: string): Promise<SqlAccount | undefined>
  create(account: {
    readonly username: string
    readonly email?: string | undefined
    readonly emailVerified: boolean
    readonly password?: string | undefined
    readonly claims?: Claims | undefined
  }): Promise<SqlAccount | 'taken'>
  change(
    sub: string,
    changes: {
      /** All claims: those that are absent are emptied. */
      readonly claims?: Claims | undefined
      /** Some claims: `null` empties one, and all others stay. */
      readonly someClaims?: Claims | undefined
      readonly email?: string | undefined
      readonly emailVerified?: boolean | undefined
      readonly username?: string | undefined
      readonly password?: string | undefined
      /** The version that was read before. If the row has another one, nothing changes. */
      readonly version?: string | undefined
      /**
       * Called after the work of the hash, before the write, and for a password after it, too. Unless it is `true`, nothing
       * changes.
       */
      readonly isStillAllowed?: (() => Promise<boolean>) | undefined
    },
  ): Promise<SqlAccount | 'taken' | undefined>
  checkPassword(sub: string, password: string): Promise<boolean>
  remove(sub: string): Promise<boolean>
}
