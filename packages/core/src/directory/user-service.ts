import type { Json, MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import type { Client } from './client.ts'
import { guarded, type HostLimits } from './host-port.ts'

/** Who was authenticated, and how. */
export interface Subject {
  /** Never reassigned to another person; at most 255 characters. */
  readonly sub: string
  /** Authentication methods (RFC 8176), `['pwd']` for a password. */
  readonly amr: readonly string[]
  /** Epoch seconds of the authentication; now, where it is not given. */
  readonly authTime?: number
  /** The identity provider that authenticated; `local`, where it is not given. */
  readonly idp?: string
  readonly acr?: string
}

/** What a password request brings. `idp`, `tenant` and `acrValues` come from `acr_values`. */
export interface UserCredentials {
  readonly username: string
  readonly password: string
  readonly idp?: string
  readonly tenant?: string
  readonly acrValues?: readonly string[]
}

/** Where a user service does not say how it authenticated, `amr` is `['pwd']`. */
export type AuthenticatedUser = Omit<Subject, 'amr'> & { readonly amr?: readonly string[] }

/** The host's users. The provider keeps none. */
export interface UserService {
  /**
   * Absent for a wrong password, an unknown user and an inactive one alike; takes the same time for each.
   *
   * @param client absent where a login page calls `provider.authenticateUser` without a `clientId`
   */
  authenticate?(credentials: UserCredentials, client?: Client): MaybePromise<AuthenticatedUser | undefined>
  /** Asked before every token of a user is issued or accepted. Without it every user is active. */
  isActive?(sub: string): MaybePromise<boolean>
  /** The claims of these names that the user has. Others are ignored. */
  claims?(sub: string, names: readonly string[]): MaybePromise<Readonly<Record<string, Json | undefined>>>
}

/** Users that requests can wait for: each method behind a port of its own, with its own `this`. */
export function openUsers(users: UserService, limits: HostLimits): UserService {
  const authenticate = guarded('users.authenticate', users.authenticate?.bind(users), limits)
  const isActive = guarded('users.isActive', users.isActive?.bind(users), limits)
  const claims = guarded('users.claims', users.claims?.bind(users), limits)
  return {
    ...(authenticate !== undefined && { authenticate }),
    ...(isActive !== undefined && { isActive }),
    ...(claims !== undefined && { claims }),
  }
}

/** Fails closed: where the host can be asked, anything but `true` means that the user is not active. */
export const isActive = (users: UserService, sub: string): MaybePromise<boolean> =>
  users.isActive === undefined ? true : after(users.isActive(sub), (active) => active === true)
