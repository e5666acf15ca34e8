import type { EndpointKit, EndpointRequest, Subject } from '@grantry/core'
import type { Consents } from './consents.ts'
import type { Decision, Interaction, Progress, Suspension } from './interaction.ts'
import type { RequestOptions } from './parameters.ts'
import { type RefusalCode, refused } from './refusal.ts'
import { type CheckedRequest, checkRequest, type ReceivedRequest } from './request.ts'
import { restartQueryOf, type Target } from './response.ts'
import type { Session, Sessions } from './sessions.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'

/** A subject whose time of authentication is known. */
export type TimedSubject = Subject & { readonly authTime: number }

/** A subject as the requirements of a request see it. */
export type Judged = Pick<TimedSubject, 'sub' | 'authTime' | 'acr'> & Pick<Session, 'provesTime'>

const judged = ({ subject, provesTime }: Session): Judged => ({ ...subject, provesTime })

/**
 * Returns the refusal of a subject that the request does not accept, or `undefined`.
 *
 * @see OpenID Connect Core sections 3.1.2.1, 3.1.2.2 and 5.5.1.1
 */
export function unmetBy(
  { sub, authTime, acr, provesTime = true }: Judged,
  { prompts, maxAge, hintedSub, claims, startedAt }: CheckedRequest,
): RefusalCode | undefined {
  const isSince = (time: number): boolean => provesTime && authTime >= time
  if (prompts.has('login') && !isSince(startedAt)) return 'login_required'
  // Demands a new session, not a new proof.
  if (prompts.has('create') && authTime < startedAt) return 'login_required'
  // The time that the user takes for the interaction does not count, only the time before the request.
  if (maxAge !== undefined && !isSince(startedAt - maxAge)) return 'login_required'
  if (hintedSub !== undefined && hintedSub !== sub) return 'login_required'
  const isUnmet = (claim: 'sub' | 'acr', value: string | undefined): boolean =>
    claims.identityToken.some(
      ({ name, essential, values }) =>
        name === claim && (essential || claim === 'sub') && values !== undefined && !values.includes(value ?? ''),
    )
  if (isUnmet('sub', sub)) return 'login_required'
  return isUnmet('acr', acr) ? 'unmet_authentication_requirements' : undefined
}

/** What a request demands of a user who does not suffice. It can be passed on as a refusal. */
export interface UnmetRequest {
  /** What the client receives, if the user does not sign in again. */
  readonly refuse: RefusalCode
  /**
   * Whether the user can sign in, or choose another account: the request allows a page (`prompt=none` does not), and the user
   * has not signed in since it arrived. Otherwise another sign-in would lead here again: refuse.
   */
  readonly canSignIn: boolean
}

/** Returns what a request demands of a user on a page of the host, where an account is chosen by a sign-in. */
export function unmetOf(user: TimedSubject | undefined, request: CheckedRequest): UnmetRequest | undefined {
  const { prompts, startedAt } = request
  const hasSignedIn = user !== undefined && user.authTime >= startedAt
  const refuse =
    (user === undefined ? 'login_required' : unmetBy(user, request)) ??
    (prompts.has('select_account') && !hasSignedIn ? 'account_selection_required' : undefined)
  return refuse && { refuse, canSignIn: !hasSignedIn && !prompts.has('none') }
}

/** Whether the user of the session has signed in since the request, in this interaction. */
const hasSignedIn = ({ sid, subject }: Session, { startedAt }: CheckedRequest, { signedIn }: Progress): boolean =>
  signedIn === sid && subject.authTime >= startedAt

/** Whether the session does not suffice for the request. */
function mustSignIn(session: Session | undefined, request: CheckedRequest, progress: Progress): boolean {
  if (session === undefined) return true
  // OpenID Connect Core section 3.1.2.1: a max_age of 0 is equivalent to prompt=login.
  const { prompts, maxAge } = request
  // Initiating User Registration 1.0 section 4: a user who is signed in creates another account.
  const demandsSignIn = prompts.has('login') || prompts.has('create') || maxAge === 0
  if (demandsSignIn && !hasSignedIn(session, request, progress)) return true
  return unmetBy(judged(session), request) !== undefined
}

/** Returns the refusal if the user has signed in for this request, and another sign-in would not help. */
const failedBy = (
  session: Session | undefined,
  request: CheckedRequest,
  progress: Progress,
): RefusalCode | undefined =>
  session !== undefined && hasSignedIn(session, request, progress) ? unmetBy(judged(session), request) : undefined

/** An authorization request on its way to a code, in one HTTP request of the browser. */
export interface Visit extends ReceivedRequest {
  readonly kit: EndpointKit
  readonly http: EndpointRequest
  readonly progress: SuspendedRecord['progress']
  /** The id and the record of a suspended request. */
  readonly suspended: { readonly id: string; readonly record: SuspendedRecord } | undefined
}

export const newVisit = (http: EndpointRequest, kit: EndpointKit) => ({
  kit,
  http,
  startedAt: kit.now(),
  progress: {},
  suspended: undefined,
})

/** Returns the visit of a suspended request; `undefined` if it does not exist in this browser. */
export async function suspendedVisit(
  requests: SuspendedRequests,
  id: string,
  http: EndpointRequest,
  kit: EndpointKit,
): Promise<Visit | undefined> {
  const record = await requests.find(kit, http, id)
  if (record === undefined) return undefined
  const { params, confirmation, pushed, clientEpoch, startedAt, progress } = record
  return { kit, http, params, confirmation, pushed, clientEpoch, startedAt, progress, suspended: { id, record } }
}

export const suspensionOf = ({ id, record }: NonNullable<Visit['suspended']>): Suspension => ({
  id,
  browser: record.browser,
  expiresAt: record.expiresAt,
})

/** Checks the request, and finds the signed-in user. A user who was deactivated since the sign-in is not signed in. */
export async function checkVisit(
  visit: Visit,
  target: Target,
  sessions: Sessions,
  options: RequestOptions,
): Promise<{ readonly request: CheckedRequest; readonly session: Session | undefined }> {
  const { kit, http } = visit
  const [request, session] = await Promise.all([checkRequest(target, visit, kit, options), sessions.find(kit, http)])
  const isSignedIn = session !== undefined && (await kit.isUserActive(session.subject.sub))
  return { request, session: isSignedIn ? session : undefined }
}

export interface OpenInteraction extends Interaction {
  /** The cookies that `suspend` has set. */
  cookies(): readonly string[]
  /**
   * The refusal of a user who has signed in for this request and has not reached an essential `acr`, unless a step of a
   * feature leads on.
   */
  readonly unreached: RefusalCode | undefined
  /** The users who have passed the steps of features. */
  readonly passed: Set<string>
  /** Whether the decision needs no question: the user has consented before, or the code of the host trusts the client. */
  permits(decision: Decision & { readonly trusted?: boolean }): boolean
}

/**
 * Checks the request of a visit, and prepares what the interaction receives.
 *
 * @throws OAuthError for the client.
 */
export type OpenInteractionFor = (visit: Visit, target: Target) => Promise<OpenInteraction>

export function createOpenInteraction({
  sessions,
  suspendedRequests,
  consents,
  lifetime,
  createsAccounts,
}: {
  readonly sessions: Sessions
  readonly suspendedRequests: SuspendedRequests
  readonly consents: Consents
  /** Seconds for which a request can be suspended. */
  readonly lifetime: number
  readonly createsAccounts: boolean
}): OpenInteractionFor {
  return async (visit, target) => {
    const { kit, http, confirmation, pushed, clientEpoch, startedAt, progress } = visit
    const { request, session } = await checkVisit(visit, target, sessions, { createsAccounts })
    // With the wrong user, another page would only lead to the same result.
    const failure = failedBy(session, request, progress)
    const unreached = failure === 'unmet_authentication_requirements' ? failure : undefined
    if (failure !== unreached && failure !== undefined) throw refused(failure, kit.refuse)
    const isUnfit = mustSignIn(session, request, progress)
    let stored: ReturnType<SuspendedRequests['store']> | undefined
    let cookies: readonly string[] = []
    const recalled = new Set<string>()
    const signedIn = session?.subject.sub
    return {
      request,
      session,
      mustSignIn: isUnfit,
      progress,
      restart: restartQueryOf(request.params, pushed !== undefined),
      http,
      kit,
      sessions,
      async suspend() {
        if (request.prompts.has('none')) {
          throw refused(isUnfit ? 'login_required' : 'interaction_required', kit.refuse)
        }
        if (visit.suspended !== undefined) return suspensionOf(visit.suspended)
        stored ??= suspendedRequests.store(kit, http, {
          params: request.params,
          startedAt,
          expiresAt: kit.now() + lifetime,
          progress,
          ...(pushed !== undefined && { pushed }),
          ...(clientEpoch !== undefined && { clientEpoch }),
          ...(confirmation !== undefined && { confirmation }),
        })
        const { suspension, cookies: set } = await stored
        cookies = set
        return suspension
      },
      async recallConsent(sub = signedIn) {
        if (sub === undefined || !(await consents.suffice(kit, sub, request))) return undefined
        recalled.add(sub)
        return { scopes: request.scopes, consented: true }
      },
      recallDeclined: async () =>
        signedIn === undefined ? [] : consents.declined(kit, signedIn, request.client.clientId),
      cookies: () => cookies,
      unreached,
      passed: new Set(),
      permits: (decision) => decision.trusted === true || recalled.has(decision.subject?.sub ?? signedIn ?? ''),
    }
  }
}
