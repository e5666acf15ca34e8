import type { Consents } from './consents.ts'
import type { Decision, Interaction } from './interaction.ts'
import { refused } from './refusal.ts'
import { failedBy, mustSignIn } from './requirements.ts'
import type { Target } from './response.ts'
import type { Sessions } from './sessions.ts'
import type { SuspendedRequests } from './suspended.ts'
import { checkVisit, suspensionOf, type Visit } from './visit.ts'
import { restartQueryOf } from './ways-on.ts'

export interface OpenInteraction extends Interaction {
  /** The cookies that `suspend` has set. */
  cookies(): readonly string[]
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
}: {
  readonly sessions: Sessions
  readonly suspendedRequests: SuspendedRequests
  readonly consents: Consents
  /** Seconds for which a request can be suspended. */
  readonly lifetime: number
}): OpenInteractionFor {
  return async (visit, target) => {
    const { kit, http, confirmation, pushed, clientEpoch, startedAt, progress } = visit
    const { request, session } = await checkVisit(visit, target, sessions)
    // With the wrong user, another page would only lead to the same result.
    const failure = failedBy(session, request, progress)
    if (failure !== undefined) throw refused(failure)
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
      restart: restartQueryOf({ params: request.params, pushed }),
      http,
      kit,
      sessions,
      async suspend() {
        if (request.prompts.has('none')) throw refused(isUnfit ? 'login_required' : 'interaction_required')
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
      cookies: () => cookies,
      permits: (decision) => decision.trusted === true || recalled.has(decision.subject?.sub ?? signedIn ?? ''),
    }
  }
}
