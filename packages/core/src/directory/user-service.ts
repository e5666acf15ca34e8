import * as v from 'valibot'
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

/** The request that a question about a user belongs to. */
export interface UserQuestion {
  /**
   * The same object for each question of a request that asks for the claims of its user, too. A user service can read them with
   * the state, keep them in a `WeakMap` under this object, and return them without another read. It must not keep the state:
   * the provider asks for that when it must be read.
   */
  readonly request?: object | undefined
}

/** Why the provider asks whether a user is active. */
export interface ActiveQuestion extends UserQuestion {
  /**
   * Whether a session or an authorization of the user begins with the answer. A user service that remembers answers must then
   * ask again: otherwise a user who was deactivated a moment ago could still sign in.
   */
  readonly begins: boolean
}

/** A user as administrators see one, active or not. */
export interface FoundUser {
  readonly sub: string
  /** The name for the sign-in. */
  readonly username?: string | undefined
  readonly active: boolean
  readonly claims?: Readonly<Record<string, Json | undefined>> | undefined
}

/** Gives the provider access to your users. The provider does not store users. */
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
    | ((
        sub: string,
        names: readonly string[],
        question?: UserQuestion,
      ) => MaybePromise<Readonly<Record<string, Json | undefined>>>)
    | undefined
  /**
   * Finds the user with exactly this `sub`, and the users with this name for the sign-in, active or not, for administrators
   * and `combinedUsers()`; no other request of a client calls it. Without it, administrators find users by the `sub` only.
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

/** A question of a request that asks for the claims of the user afterwards. */
export const withClaims = (begins: boolean): ActiveQuestion => ({ begins, request: {} })

/** Whether a user is active. Fails closed: any result other than `true` means inactive. */
export const isActive = (users: UserService, sub: string, question = continues): MaybePromise<boolean> =>
  users.isActive === undefined ? true : after(users.isActive(sub, question), (active) => active === true)

/** A subject with the defaults applied. */
export interface CompleteSubject {
  readonly sub: string
  readonly amr: readonly string[]
  readonly authTime: number
  readonly idp: string
  readonly acr?: string
}

const text = (maxLength: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(maxLength))

/** OpenID Connect Core section 2: `sub` has at most 255 characters. */
const subjectSchema = v.strictObject({
  sub: text(255),
  amr: v.pipe(v.array(text(100)), v.minLength(1)),
  authTime: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))),
  idp: v.optional(text(200)),
  acr: v.optional(text(200)),
})

/** The subjects that `checkSubject` has returned. They are frozen, so they still match the schema. */
const checked = new WeakSet<object>()

/** Validates a subject. Its members cannot be changed afterwards. */
export function checkSubject(input: unknown): v.SafeParseResult<typeof subjectSchema> {
  const parsed = v.safeParse(subjectSchema, input)
  if (parsed.success) {
    Object.freeze(parsed.output.amr)
    checked.add(Object.freeze(parsed.output))
  }
  return parsed
}

const asItIs = v.custom<v.InferOutput<typeof subjectSchema>>(() => true)

/** For a subject that a caller may have from `checkSubject`, such as a grant from `authenticateUser`: it is not validated again. */
export const uncheckedSubjectSchema = v.lazy((input) =>
  typeof input === 'object' && input !== null && checked.has(input) ? asItIs : subjectSchema,
)

/** The default `idp` of a subject. */
export const localProvider = 'local'

/** Seconds by which `authTime` may be in the future, to allow for clock skew. */
const maxAhead = 86_400

/** @throws TypeError when `authTime` is far in the future: probably milliseconds instead of seconds. */
export function completeSubject(subject: Subject, now: number): CompleteSubject {
  if (subject.authTime !== undefined && subject.authTime > now + maxAhead) {
    throw new TypeError('authTime must be in epoch seconds, but is in the future; is it in milliseconds?')
  }
  const { sub, amr, authTime = now, idp = localProvider, acr } = subject
  return { idp, authTime, sub, amr, ...(acr !== undefined && { acr }) }
}
