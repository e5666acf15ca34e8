import type { UserService } from '@grantry/core'

/** A user service with connections. `open()` is optional: the first call connects, too. */
export interface UserDatabase extends UserService {
  /** Checks the settings. @throws Error that begins with the path of the setting that is wrong */
  open(): Promise<void>
  /** Closes the connections. */
  close(): Promise<void>
}
