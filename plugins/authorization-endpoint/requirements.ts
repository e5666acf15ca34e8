import type { Subject } from '@grantry/core'
import type { Progress } from './interaction.ts'
import type { CheckedRequest } from './request.ts'
import type { Session } from './sessions.ts'

/** When the request arrived, and what the user has done since. */
export interface Course {
  /** Epoch seconds. */
  readonly startedAt: number
  readonly progress: Progress
}

/**
 * Returns why a subject may not get the code, or `undefined` if it may.
 *
 * @see OpenID Connect Core sections 3.1.2.1 and 5.5.1
 */
export function unmetBy(
  { sub, authTime = 0, acr }: Subject,
  { maxAge, hintedSub, claims }: CheckedRequest,
  startedAt: number,
): 'max_age' | 'hint' | 'claims' | undefined {
  // The user has as long as an interaction lasts: only the time before the request counts.
  if (maxAge !== undefined && authTime < startedAt - maxAge) return 'max_age'
  if (hintedSub !== undefined && hintedSub !== sub) return 'hint'
  const isUnmet = claims.identityToken.some(({ name, essential, values }) => {
    if (values === undefined) return false
    return (name === 'sub' && !values.includes(sub)) || (name === 'acr' && essential && !values.includes(acr ?? ''))
  })
  return isUnmet ? 'claims' : undefined
}

/** Whether the session does not suffice for the request. */
export function mustSignIn(
  session: Session | undefined,
  request: CheckedRequest,
  { startedAt, progress }: Course,
): boolean {
  if (session === undefined) return true
  if (request.prompts.has('login') && progress.signedIn !== session.sid) return true
  return unmetBy(session.subject, request, startedAt) !== undefined
}
