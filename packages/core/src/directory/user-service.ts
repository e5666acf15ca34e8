import { after } from '../promises.ts'
import type { Json, MaybePromise } from '../types.ts'
import type { Client } from './client.ts'
import { guarded, type HostLimits } from './host-port.ts'

/** An authenticated user, and how the user was authenticated. */
export interface Subject {
  /** The id of the user. Must never be reassigned to another user; at most 255 characters. */
  readonly sub: string
  /** The authentication methods (RFC 8176), such as `['pwd']` for a password. */
  readonly amr: readonly string[]
  /** Epoch seconds of the authentication. Default: now. */
  readonly authTime?: number | undefined
  /** The identity provider that authenticated the user. Default: `local`. */
  readonly idp?: string | undefined
  readonly acr?: string | undefined
}

/** A user name and password. `idp`, `tenant` and `acrValues` come from the parameter `acr_values`. */
export interface UserCredentials {
  readonly username: string
  readonly password: string
  readonly idp?: string | undefined
  readonly tenant?: string | undefined
  readonly acrValues?: readonly string[] | undefined
}

/** The result of `users.authenticate`. Default of `amr`: `['pwd']`. */
export type AuthenticatedUser = Omit<Subject, 'amr'> & { readonly amr?: readonly string[] | undefined }

/** Why the provider asks whether a user is active. */
export interface ActiveQuestion {
  /**
   * Whether a session or an authorization of the user begins with the answer. A user service that remembers answers must then
   * ask again: otherwise a user who was deactivated a moment ago could still sign in.
   */
  readonly begins: boolean
}

/** Gives the provider access to your users. The provider does not store users. */
/** A user as administrators see one, active or not. */
export interface FoundUser {
  readonly sub: string
  /** The name for the sign-in. */
  readonly username?: string | undefined
  readonly active: boolean
  readonly claims?: Readonly<Record<string, Json | undefined>> | undefined
}

export interface UserService {
  /**
   * Checks a user name and password. Must return `undefined` for an unknown user, a wrong password and an inactive user
   * alike, and take the same time for each.
   *
   * @param client `undefined` if a login page calls `provider.authenticateUser` without a `clientId`
   */
  readonly authenticate?:
    | ((credentials: UserCredentials, client?: Client) => MaybePromise<AuthenticatedUser | undefined>)
    | undefined
  /**
   * Whether the user is active. Called before a token of a user is issued or accepted. Without it, every user is
   * active.
   */
  readonly isActive?: ((sub: string, question?: ActiveQuestion) => MaybePromise<boolean>) | undefined
  /** Returns the claims of the user with these names. Other claims are ignored. */
  readonly claims?:
    | ((sub: string, names: readonly string[]) => MaybePromise<Readonly<Record<string, Json | undefined>>>)
    | undefined
  /**
   * Finds the user with exactly this `sub`, and the users with this name for the sign-in, active or not. Commands and the
   * admin API call it for administrators; no request of a client does. Without it, they find users by the `sub` only.
   */
  readonly find?: ((subOrName: string) => MaybePromise<readonly FoundUser[]>) | undefined
}

/** Wraps each method of the user service in its own port, bound to the service. */
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

const continues: ActiveQuestion = Object.freeze({ begins: false })

/** Whether a session or an authorization begins. */
export const begins: ActiveQuestion = Object.freeze({ begins: true })

/** Whether a user is active. Fails closed: any result other than `true` means inactive. */
export const isActive = (users: UserService, sub: string, question = continues): MaybePromise<boolean> =>
  users.isActive === undefined ? true : after(users.isActive(sub, question), (active) => active === true)
