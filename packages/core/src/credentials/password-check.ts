import * as v from 'valibot'
import { addressGroupOf } from '../abuse/address-group.ts'
import type { Attempt } from '../abuse/password-admission.ts'
import type { PasswordLimits } from '../abuse/password-limits.ts'
import type { Settlement } from '../abuse/settlement.ts'
import { createBoundedMap } from '../bounded-map.ts'
import type { Client } from '../directory/client.ts'
import {
  type AuthenticatedUser,
  checkSubject,
  localProvider,
  type Subject,
  type UserCredentials,
  type UserService,
} from '../directory/user-service.ts'
import { isOAuthError } from '../errors/oauth-error.ts'
import { describeCause } from '../events/cause.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { typedName } from '../folded-text.ts'
import { isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { createLoginConcurrency } from './login-concurrency.ts'
import { limitNameOf, type UserNames } from './user-names.ts'
import { type ReadState, userState } from './user-state.ts'

/** What the caller does while a password is checked. */
interface PasswordSteps {
  /**
   * Reads the state of the user, such as the epoch, which the tokens or the session will carry. The last call counts.
   */
  readonly readState?: ReadState | undefined
  /** Takes a function that checks the password of the user again, without the limits. */
  readonly confirmBy?: ((sub: string, confirm: () => Promise<boolean>) => void) | undefined
  /** Takes over the settlement of a success, to write it with the tokens. Without it, it is written immediately. */
  readonly settleLater?: ((settlement: Settlement) => void) | undefined
  /** Whether a second factor follows. */
  readonly needsSecondFactor?: ((sub: string) => Promise<boolean>) | undefined
}

/**
 * Checks a password with `users.authenticate()`, within the limits, and records the outcome.
 */
export type PasswordCheck = (
  credentials: UserCredentials,
  client: Client | undefined,
  trace: Trace,
  steps?: PasswordSteps,
) => Promise<Subject | undefined>

/** The reason of an error for a record of a user that the operator must mend, such as a hash that cannot be checked. */
const unusableRecord = 'user_record_unusable'

/** Stands for the client in limits if a login page names none. No client has this id. */
const noClient = ''

/** The maximum number of logins whose `sub` a process remembers. */
const maxLogins = 10_000

/**
 * Validates the returned subject. The error contains only the path of the mistake: the value could be a database row
 * with a password.
 */
function subjectOf(user: AuthenticatedUser): Subject {
  const parsed = checkSubject({ ...user, amr: user.amr ?? ['pwd'] })
  if (parsed.success) return parsed.output
  throw new TypeError(
    `users.authenticate() returned a malformed subject: ${v.getDotPath(parsed.issues[0]) ?? 'no object'}`,
  )
}

/** The directory that credentials name, for limits; `undefined` if they name none. */
function directoryOf({ idp, tenant, acrValues }: UserCredentials): string | undefined {
  const namesDirectory = idp !== undefined || tenant !== undefined || acrValues !== undefined
  return namesDirectory ? JSON.stringify([idp, tenant, acrValues]) : undefined
}

/** How an attempt with these credentials counts. */
export function attemptOf(
  credentials: UserCredentials,
  client: Client | undefined,
  address: string | undefined,
): Attempt {
  const foldedName = limitNameOf(credentials.username)
  return {
    foldedName,
    spelling: credentials.username,
    clientId: client?.clientId ?? noClient,
    directory: directoryOf(credentials),
    address,
    nameAtAddress: address === undefined ? undefined : JSON.stringify([foldedName, addressGroupOf(address)]),
  }
}

/**
 * Calls `users.authenticate()`. A record that cannot be checked counts as a wrong password: an error would reveal
 * which users have such a record.
 */
export function authenticated(
  users: UserService,
  credentials: UserCredentials,
  client: Client | undefined,
  { recorder, trace }: { readonly recorder: Recorder; readonly trace: Trace },
): MaybePromise<AuthenticatedUser | undefined> {
  const failed = (error: unknown): undefined => {
    if (!isOAuthError(error) || error.details.reason !== unusableRecord) throw error
    const cause = describeCause(error.cause ?? error)
    recorder.record(trace, { type: 'unhandled_failure', reason: unusableRecord, port: 'users.authenticate', cause })
  }
  try {
    const user = users.authenticate?.(credentials, client)
    return isThenable(user)
      ? user.then((authenticatedUser) => authenticatedUser ?? undefined, failed)
      : (user ?? undefined)
  } catch (error) {
    return failed(error)
  }
}

/** @see wire contract, section 3, `password` */
export function createPasswordCheck(deps: {
  readonly users: UserService
  readonly maxHostCalls: number
  readonly limits: PasswordLimits
  readonly names: UserNames
  readonly recorder: Recorder
  readonly runtime: Pick<Runtime, 'now'>
}): PasswordCheck {
  const { users, maxHostCalls, limits, names, recorder, runtime } = deps
  const concurrency = createLoginConcurrency(maxHostCalls)
  const lastLogins = createBoundedMap<string>(maxLogins)
  return async (input, client, trace, { readState, confirmBy, settleLater, needsSecondFactor } = {}) => {
    // A space that a keyboard adds does not make the name that of another user. Events contain the name as sent.
    const username = typedName(input.username)
    const credentials = username === input.username ? input : { ...input, username }
    const { idp, tenant, acrValues } = credentials
    trace.tenant = tenant
    const fail = (reason: string): void => {
      const described = {
        ...names.describe(input.username),
        ...(idp !== undefined && { idp }),
        ...(acrValues !== undefined && { acrValues: [...acrValues] }),
      }
      recorder.record(trace, { type: 'user_authentication_failed', ...described, reason })
    }
    const attempt = attemptOf(credentials, client, trace.clientAddress)
    const release = concurrency.acquire(attempt)
    const login = JSON.stringify([username, attempt.directory, attempt.clientId])
    const expected = lastLogins.get(login)
    const state = userState(readState, expected, runtime)
    const ask = () => authenticated(users, credentials, client, { recorder, trace })
    const confirm = async (sub: string): Promise<boolean> => (await ask())?.sub === sub
    let user: AuthenticatedUser | undefined
    let isConfirmed = true
    try {
      const check = async (): Promise<AuthenticatedUser | undefined> => {
        if (isThenable(state.isReadForExpected)) await state.isReadForExpected
        const asked = ask()
        const authenticatedUser = isThenable(asked) ? await asked : asked
        // The subject is validated after the attempt.
        if (typeof authenticatedUser?.sub === 'string') state.found(authenticatedUser.sub)
        return authenticatedUser
      }
      user = await limits.attempt(attempt, trace, { check, settleLater })
      if (user !== undefined && expected !== user.sub) {
        lastLogins.set(login, subjectOf(user).sub)
        isConfirmed = await state.confirmed(user.sub, confirm)
      }
    } catch (error) {
      if (isOAuthError(error) && error.code === 'slow_down') fail(error.details.reason)
      throw error
    } finally {
      release()
    }
    if (user === undefined || !isConfirmed) {
      fail('wrong_credentials')
      return undefined
    }
    const subject = subjectOf(user)
    trace.sub = subject.sub
    confirmBy?.(subject.sub, () => confirm(subject.sub))
    names.remember(attempt.foldedName)
    const { idp: authenticatedBy = localProvider, acr } = subject
    const how = { idp: authenticatedBy, ...(acr !== undefined && { acr }) }
    const type = (await needsSecondFactor?.(subject.sub)) ? 'user_password_accepted' : 'user_authentication_succeeded'
    recorder.record(trace, { type, username: input.username, ...how })
    return subject
  }
}
