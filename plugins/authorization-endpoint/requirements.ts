import type { Subject } from '@grantry/core'
import type { Progress } from './interaction.ts'
import type { RefusalCode } from './refusal.ts'
import type { CheckedRequest } from './request.ts'
import type { Session } from './sessions.ts'

/** A subject whose time of authentication is known. */
export type TimedSubject = Subject & { readonly authTime: number }

/**
 * Returns the refusal of a subject that the request does not accept, or `undefined`.
 *
 * @see OpenID Connect Core sections 3.1.2.1, 3.1.2.2 and 5.5.1.1
 */
export function unmetBy(
  { sub, authTime, acr }: Pick<TimedSubject, 'sub' | 'authTime' | 'acr'>,
  { prompts, maxAge, hintedSub, claims, startedAt }: CheckedRequest,
): RefusalCode | undefined {
  if (prompts.has('login') && authTime < startedAt) return 'login_required'
  // The user has as long as an interaction lasts: only the time before the request counts.
  if (maxAge !== undefined && authTime < startedAt - maxAge) return 'login_required'
  if (hintedSub !== undefined && hintedSub !== sub) return 'login_required'
  const isUnmet = (claim: 'sub' | 'acr', value: string | undefined): boolean =>
    claims.identityToken.some(
      ({ name, essential, values }) =>
        name === claim && (essential || claim === 'sub') && values !== undefined && !values.includes(value ?? ''),
    )
  if (isUnmet('sub', sub)) return 'login_required'
  return isUnmet('acr', acr) ? 'unmet_authentication_requirements' : undefined
}

/** Whether the user of the session has signed in since the request, in this interaction. */
const hasSignedIn = ({ sid, subject }: Session, { startedAt }: CheckedRequest, { signedIn }: Progress): boolean =>
  signedIn === sid && subject.authTime >= startedAt

/** Whether the session does not suffice for the request. */
export function mustSignIn(session: Session | undefined, request: CheckedRequest, progress: Progress): boolean {
  if (session === undefined) return true
  // OpenID Connect Core section 3.1.2.1: a max_age of 0 is equivalent to prompt=login.
  const demandsSignIn = request.prompts.has('login') || request.maxAge === 0
  if (demandsSignIn && !hasSignedIn(session, request, progress)) return true
  return unmetBy(session.subject, request) !== undefined
}

/** Returns the refusal if the user has signed in for this request, and another sign-in would not help. */
export const failedBy = (
  session: Session | undefined,
  request: CheckedRequest,
  progress: Progress,
): RefusalCode | undefined =>
  session !== undefined && hasSignedIn(session, request, progress) ? unmetBy(session.subject, request) : undefined
