import { type EndpointKit, type EndpointRequest, isOAuthError, type Reply } from '@grantry/core'
import type { Decisions, VisitDecision } from './decision.ts'
import type { PushedRequest, PushedRequests } from './feature.ts'
import type { Interaction, InteractionPort, RefusedInteraction, UnaskedDecision } from './interaction.ts'
import type { OpenInteraction, OpenInteractionFor } from './open-interaction.ts'
import { type Outcome, takeOutcome } from './outcomes.ts'
import { needsPageFirst, pageFirst } from './page-first.ts'
import type { EndpointPages } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'
import { invalid, notAsked, refusal, refused } from './refusal.ts'
import { codeResponse, errorResponse, responseTools, type Target } from './response.ts'
import type { Sessions } from './sessions.ts'
import type { SuspendedRequests } from './suspended.ts'
import { findTarget } from './target.ts'
import { newVisit, suspendedVisit, type Visit } from './visit.ts'
import { homeOf } from './ways-on.ts'

/** The steps of a request in the endpoint itself. */
export interface Flow {
  /** Handles a new request. @throws OAuthError for the user, not for the client. */
  begin(params: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
  /**
   * Handles a request that was suspended.
   *
   * @param ticket of a decision that was made elsewhere
   * @throws OAuthError as `begin`.
   */
  resume(id: string, ticket: string | undefined, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
}

type NewRequest = Pick<Visit, 'params' | 'http' | 'kit'>

type Result = VisitDecision | UnaskedDecision | RefusedInteraction | Reply

const isDecision = (result: Result): result is VisitDecision | UnaskedDecision => 'scopes' in result
const isRefusal = (result: Result): result is RefusedInteraction => 'refuse' in result

/** The reasons for which a request is not stored. A client that received them would begin again immediately. */
const notForClients: ReadonlySet<string> = new Set([
  'too_many_waiting_requests',
  'plugin:authorization-endpoint:no_page_shown',
])

/** A decision that was made elsewhere also begins a session: the user has signed in. */
function decisionOf(outcome: Outcome): VisitDecision | RefusedInteraction {
  if ('refuse' in outcome) return outcome
  const { subject, scopes, remember, ...more } = outcome
  return { subject, scopes, remember, asked: true, signIn: { subject, ...more } }
}

export function createFlow(deps: {
  readonly port: InteractionPort
  readonly pages: EndpointPages
  readonly openInteraction: OpenInteractionFor
  readonly decisions: Decisions
  readonly suspendedRequests: SuspendedRequests
  readonly pushedRequests: PushedRequests | undefined
  readonly sessions: Sessions
}): Flow {
  const { port, pages, openInteraction, decisions, suspendedRequests, pushedRequests, sessions } = deps

  const interact = async (interaction: Interaction) =>
    port.limitsHostCalls === true
      ? port.interact(interaction)
      : interaction.kit.callHost('authorizationEndpoint.interact', () => port.interact(interaction))

  /** Refuses a request before its user has decided anything. */
  async function refuse(target: Target, error: unknown, { params, http, kit }: NewRequest): Promise<Reply> {
    const tools = { ...responseTools(pages, { kit, http, params }), pages }
    // While the storage fails, no user counts as signed in.
    const isSignedIn = async () => (await sessions.find(kit, http).catch(() => undefined)) !== undefined
    if (!needsPageFirst(target.client, params) || (await isSignedIn())) return errorResponse(target, error, tools)
    return pageFirst(target, error, tools, { requestId: http.requestId, home: homeOf(kit) })
  }

  /** From here on, the client receives every refusal, except that the request is not stored. */
  async function run(visit: Visit, target: Target, outcome?: Outcome): Promise<Reply> {
    const tools = responseTools(pages, visit)
    let interaction: OpenInteraction
    try {
      interaction = await openInteraction(visit, target)
    } catch (error) {
      // The user of a suspended request has seen a page.
      return visit.suspended === undefined ? refuse(target, error, visit) : errorResponse(target, error, tools)
    }
    try {
      const result: Result = outcome === undefined ? await interact(interaction) : decisionOf(outcome)
      if (isDecision(result)) {
        if (outcome === undefined && !interaction.permits(result)) throw notAsked()
        const { code, cookies } = await decisions.decide(result, interaction, visit)
        return { cookies, ...codeResponse(target, code, tools) }
      }
      if (isRefusal(result)) {
        return await decisions.refuse(result.refuse, interaction, visit)
      }
      if (interaction.request.prompts.has('none')) {
        throw refused(interaction.mustSignIn ? 'login_required' : 'interaction_required')
      }
      return { ...result, cookies: [...(result.cookies ?? []), ...interaction.cookies()] }
    } catch (error) {
      if (isOAuthError(error) && notForClients.has(error.details.reason)) throw error
      return errorResponse(target, error, tools)
    }
  }

  /** @throws OAuthError if it is not valid. */
  async function findPushed(uri: string, clientId: string, kit: EndpointKit): Promise<PushedRequest> {
    const found = await pushedRequests?.find(kit, uri, clientId)
    if (found === undefined) throw refusal('invalid_request_uri', 'The request_uri is not valid', 'request_uri_unknown')
    return found
  }

  /** Refuses a `request_uri`. Its redirect URI is not known; clients can repeat it beside the `request_uri`. */
  async function refusePushed(error: unknown, { params, http, kit }: NewRequest): Promise<Reply> {
    if (params.redirect_uri === undefined) throw error
    return refuse(await findTarget(params, kit), error, { params, http, kit })
  }

  async function beginPushed(uri: string, received: NewRequest): Promise<Reply> {
    const { params, http, kit } = received
    let pushed: PushedRequest
    try {
      pushed = await findPushed(uri, params.client_id ?? '', kit)
    } catch (error) {
      return refusePushed(error, received)
    }
    const request = { ...pushed, pushed: uri }
    return run(Object.assign(request, newVisit(http, kit)), await findTarget(pushed.params, kit))
  }

  return {
    async begin(params, http, kit) {
      const { request_uri: uri } = params
      if (uri !== undefined && pushedRequests?.includes(uri)) return beginPushed(uri, { params, http, kit })
      const target = await findTarget(params, kit)
      if (pushedRequests?.isRequired(target.client)) {
        return refuse(target, invalid('The request must be pushed', 'not_pushed'), { params, http, kit })
      }
      return run({ params, confirmation: undefined, pushed: undefined, ...newVisit(http, kit) }, target)
    },

    async resume(id, ticket, http, kit) {
      const [visit, outcome] = await Promise.all([
        suspendedVisit(suspendedRequests, id, http, kit),
        ticket === undefined ? undefined : takeOutcome(kit, id, ticket),
      ])
      if (visit === undefined || (ticket !== undefined && outcome === undefined)) {
        throw invalid('The request has expired, or was already answered', 'interaction_unknown')
      }
      return run(visit, await findTarget(visit.params, kit), outcome)
    },
  }
}
