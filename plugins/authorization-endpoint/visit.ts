import type { EndpointKit, EndpointRequest } from '@grantry/core'
import type { Consents } from './consents.ts'
import { failedBy, mustSignIn } from './decision.ts'
import type { Decision, Interaction, Suspension } from './interaction.ts'
import type { RequestOptions } from './parameters.ts'
import { type RefusalCode, refused } from './refusal.ts'
import { type CheckedRequest, checkRequest, type ReceivedRequest } from './request.ts'
import { restartQueryOf, type Target } from './response.ts'
import type { Session, Sessions } from './sessions.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'

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
