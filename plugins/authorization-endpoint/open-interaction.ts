import type { Interaction } from './interaction.ts'
import { refused } from './refusal.ts'
import { failedBy, mustSignIn } from './requirements.ts'
import type { Target } from './response.ts'
import type { Sessions } from './sessions.ts'
import type { SuspendedRequests } from './suspended.ts'
import { checkVisit, suspensionOf, type Visit } from './visit.ts'

export interface OpenInteraction extends Interaction {
  /** The cookies that `suspend` has set. */
  cookies(): readonly string[]
}

/**
 * Checks the request of a visit, and prepares what the interaction receives.
 *
 * @throws OAuthError for the client.
 */
export type OpenInteractionFor = (visit: Visit, target: Target) => Promise<OpenInteraction>

/** @param lifetime seconds for which a request can be suspended */
export function createOpenInteraction(
  sessions: Sessions,
  suspendedRequests: SuspendedRequests,
  lifetime: number,
): OpenInteractionFor {
  return async (visit, target) => {
    const { kit, http, params, confirmation, pushed, startedAt, progress } = visit
    const { request, session } = await checkVisit(visit, target, sessions)
    // With the wrong user, another page would only lead to the same result.
    const failure = failedBy(session, request, progress)
    if (failure !== undefined) throw refused(failure)
    const isUnfit = mustSignIn(session, request, progress)
    let stored: ReturnType<SuspendedRequests['store']> | undefined
    let cookies: readonly string[] = []
    return {
      request,
      session,
      mustSignIn: isUnfit,
      progress,
      http,
      kit,
      sessions,
      async suspend() {
        if (request.prompts.has('none')) throw refused(isUnfit ? 'login_required' : 'interaction_required')
        if (visit.suspended !== undefined) return suspensionOf(visit.suspended)
        stored ??= suspendedRequests.store(kit, http, {
          params,
          startedAt,
          expiresAt: kit.now() + lifetime,
          progress,
          ...(pushed !== undefined && { pushed }),
          ...(confirmation !== undefined && { confirmation }),
        })
        const { suspension, cookies: set } = await stored
        cookies = set
        return suspension
      },
      cookies: () => cookies,
    }
  }
}
