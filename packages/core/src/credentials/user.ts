import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import { subjectSchema } from '../directory/subject.ts'
import type { AuthenticatedUser, Subject, UserCredentials, UserService } from '../directory/user-service.ts'
import { isOAuthError, OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import { createArrivalOrder } from './arrival-order.ts'
import type { FailureLimit, FailureThrottle } from './failure-throttle.ts'

/** Failed passwords that are tolerated, per user name and per client. */
export interface FailedPasswordLimits {
  readonly perUser: FailureLimit
  readonly perClient: FailureLimit
}

export type UserAuthentication = (
  credentials: UserCredentials,
  client: Client,
  trace: Trace,
) => Promise<Subject | undefined>

/** Milliseconds that one attempt may hold up a later one for the same user. */
const longestAttempt = 10_000

/**
 * One person for the count, however the name is written: a user service that folds case or trims would otherwise give each spelling guesses of its
 * own. Two names that collide share a limit, nothing more.
 */
const personOf = (username: string): string => username.normalize('NFKC').trim().toLowerCase()

/** Only the path of a mistake is told: what a user service hands over by mistake may be the row with the password. */
function subjectOf(user: AuthenticatedUser): Subject {
  const parsed = v.safeParse(subjectSchema, { ...user, amr: user.amr ?? ['pwd'] })
  if (parsed.success) return parsed.output
  throw new TypeError(
    `users.authenticate() returned a malformed subject: ${v.getDotPath(parsed.issues[0]) ?? 'no object'}`,
  )
}

/** @see wire contract, section 3, `password` */
export function createUserAuthentication(deps: {
  readonly users: UserService
  readonly throttle: FailureThrottle
  readonly limits: FailedPasswordLimits
  readonly recorder: Recorder
}): UserAuthentication {
  const { users, throttle, limits, recorder } = deps
  const order = createArrivalOrder(longestAttempt)
  return async (credentials, client, trace) => {
    const { username } = credentials
    const person = personOf(username)
    const userName = `user ${person}`
    const clientName = `client ${client.clientId}`
    const fail = (reason: string): void =>
      recorder.record(trace, { type: 'user_authentication_failed', username, reason })
    const assertBelowLimits = async (): Promise<void> => {
      try {
        await Promise.all([
          throttle.assertBelowLimit(userName, limits.perUser),
          throttle.assertBelowLimit(clientName, limits.perClient),
        ])
      } catch (error) {
        if (isOAuthError(error) && error.code === 'slow_down') fail(error.details.reason)
        throw error
      }
    }

    // By user name only: one slow answer of the user service must not hold up everybody who logs in at this client.
    const place = order.begin(person)
    try {
      await assertBelowLimits()
      const user = await users.authenticate?.(credentials, client)
      if (user === undefined || user === null) {
        await Promise.all([
          throttle.recordFailure(userName, limits.perUser),
          throttle.recordFailure(clientName, limits.perClient),
        ])
        fail('wrong_credentials')
        return undefined
      }
      // Guesses that are sent all at once pass the first look together. The right one among them waits until those before it are counted, and is
      // looked at again: it must not pay.
      if (!(await place.earlier)) {
        throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
          reason: 'earlier_attempt_pending',
          retryAfter: 1,
        })
      }
      await assertBelowLimits()
      const subject = subjectOf(user)
      trace.sub = subject.sub
      recorder.record(trace, { type: 'user_authentication_succeeded' })
      return subject
    } finally {
      place.end()
    }
  }
}
