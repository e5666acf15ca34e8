import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import { subjectSchema } from '../directory/subject.ts'
import type { Subject, UserCredentials, UserService } from '../directory/user-service.ts'
import type { Recorder, Trace } from '../events/trace.ts'
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

/** @see wire contract, section 3, `password` */
export function createUserAuthentication(deps: {
  readonly users: UserService
  readonly throttle: FailureThrottle
  readonly limits: FailedPasswordLimits
  readonly recorder: Recorder
}): UserAuthentication {
  const { users, throttle, limits, recorder } = deps
  return async (credentials, client, trace) => {
    const { username } = credentials
    const userName = `user ${username}`
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
        fail('too_many_failures')
        throw error
      }
    }

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
    // Guesses sent all at once pass the first look together; the right one among them must not pay.
    await assertBelowLimits()
    const subject = v.parse(subjectSchema, { ...user, amr: user.amr ?? ['pwd'] })
    trace.sub = subject.sub
    recorder.record(trace, { type: 'user_authentication_succeeded' })
    return subject
  }
}
