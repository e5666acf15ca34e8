import type { FoundUser, UserService } from '@grantry/core'

type FunctionOf<Name extends keyof UserService> = NonNullable<UserService[Name]>

/** A user service with connections. `open()` is optional: the first call connects, too. */
export interface UserDatabase extends UserService {
  readonly authenticate: FunctionOf<'authenticate'>
  readonly isActive: FunctionOf<'isActive'>
  readonly claims: FunctionOf<'claims'>
  /** Checks the settings. @throws Error that begins with the path of the setting that is wrong */
  open(): Promise<void>
  /** Finds the user with exactly this `sub`, and the users with this name, for administrators, active or not. */
  find(subOrName: string): Promise<readonly FoundUser[]>
  /** Closes the connections. */
  close(): Promise<void>
}

/** Whether a database or directory can contain the name, and an index. */
export const isPossible = (name: string): boolean =>
  name !== '' && name.length <= 1000 && !/[\0\uD800-\uDFFF]/u.test(name)
