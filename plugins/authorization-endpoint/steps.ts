import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import { homeOf } from '../shared/unknown-path.ts'
import type { EndpointPages } from './authorization-pages.ts'
import type { Decisions, VisitDecision } from './decision.ts'
import type {
  AskedDecision,
  AuthorizationFeature,
  Interaction,
  InteractionPort,
  PushedRequest,
  PushedRequests,
  RefusedInteraction,
  UnaskedDecision,
} from './interaction.ts'
import { findTarget } from './parameters.ts'
import { assertActive, notAsked, type RefusalCode, refused } from './refusal.ts'
import {
  type AuthorizationParameters,
  codeResponse,
  errorResponse,
  needsPageFirst,
  pageFirst,
  responseTools,
  type Target,
} from './response.ts'
import type { Sessions } from './sessions.ts'
import { isNotStored, type Outcome, type SuspendedRequests, takeOutcome, unknownReason } from './suspended.ts'
import { newVisit, type OpenInteraction, type OpenInteractionFor, suspendedVisit, type Visit } from './visit.ts'

/**
 * The steps of an authorization request, in this order:
 *
 * 1. `push`: finds a pushed request.
 * 2. `open`: finds where the response goes. Until then, only the user sees refusals.
 * 3. `session` and `requirements` (`visit.ts`): checks the request, and whether the session suffices.
 * 4. `interact`: the steps of features, then the interaction. A page or redirect ends here, and the request waits.
 * 5. `decide`: whether the request allows the decision, and the features its user.
 * 6. `spend`: the request can be answered once.
 * 7. `issue` and `respond`: creates the code, and sends it, or a refusal, to the client.
 */
export interface Steps {
  /** Handles a new request, from `push`. @throws OAuthError for the user, not for the client. */
  begin(params: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
  /**
   * Handles a request that was suspended, from `open`.
   *
   * @param ticket of a decision that was made elsewhere
   * @throws OAuthError as `begin`.
   */
  resume(id: string, ticket: string | undefined, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
  /** `open` and `requirements` of a suspended request; `undefined` if it does not exist in this browser. */
  find(id: string, http: EndpointRequest, kit: EndpointKit): Promise<Opened | undefined>
  /** Handles the decision of a page, from `decide`. */
  complete(decision: AskedDecision, opened: Opened): Promise<Reply>
  /** Handles the refusal of a page, from `spend`. */
  refuse(code: RefusalCode, opened: Opened): Promise<Reply>
}

/** A request after `requirements`. */
export type Opened = { readonly visit: Visit; readonly target: Target; readonly interaction: OpenInteraction }

type Result = VisitDecision | UnaskedDecision | RefusedInteraction | Reply

const isDecision = (result: Result): result is VisitDecision | UnaskedDecision => 'scopes' in result
const isRefusal = (result: Result): result is RefusedInteraction => 'refuse' in result

/** A decision that was made elsewhere also begins a session: the user has signed in. */
function decisionOf(outcome: Outcome): VisitDecision | RefusedInteraction {
  if ('refuse' in outcome) return outcome
  const { subject, scopes, remember, ...more } = outcome
  return { subject, scopes, remember, asked: true, signIn: { subject, ...more } }
}

interface StepDeps {
  readonly port: InteractionPort
  readonly pages: EndpointPages
  readonly openInteraction: OpenInteractionFor
  readonly decisions: Decisions
  readonly suspendedRequests: SuspendedRequests
  readonly pushedRequests: PushedRequests | undefined
  readonly features: readonly AuthorizationFeature[]
  readonly sessions: Sessions
}

/** Step 1: returns a pushed request. @throws OAuthError if it is not valid. */
async function push(
  uri: string,
  { params, kit }: Pick<Visit, 'params' | 'kit'>,
  pushedRequests: PushedRequests,
): Promise<PushedRequest> {
  const pushedRequest = await pushedRequests.find(kit, uri, params.client_id ?? '')
  if (pushedRequest === undefined) {
    throw kit.refuse('invalid_request_uri', 'The request_uri is not valid', 'request_uri_unknown')
  }
  return pushedRequest
}

/** The steps after the session was found: 4 to 7. */
function createLastSteps({ port, pages, decisions, features }: StepDeps) {
  /** The steps of features for a user. */
  async function featureSteps(interaction: OpenInteraction, sub: string) {
    if (interaction.passed.has(sub)) return undefined
    for (const { step } of features) {
      const reply = await step?.(interaction, sub)
      if (reply !== undefined) return reply
    }
    interaction.passed.add(sub)
    return undefined
  }

  async function callPort(interaction: Interaction): Promise<Result> {
    if (port.limitsHostCalls === true) return port.interact(interaction)
    return interaction.kit.callHost('authorizationEndpoint.interact', () => port.interact(interaction))
  }

  async function interact(interaction: OpenInteraction): Promise<Result> {
    const { session, mustSignIn, unreached, kit } = interaction
    const isKnown = session !== undefined && (!mustSignIn || unreached !== undefined)
    const reply = isKnown ? await featureSteps(interaction, session.subject.sub) : undefined
    if (reply === undefined && unreached !== undefined) throw refused(unreached, kit.refuse)
    const result = reply ?? (await callPort(interaction))
    if (isDecision(result) && !interaction.permits(result)) throw notAsked(interaction.kit.refuse)
    return result
  }

  /** Shows a page, or follows a redirect, unless the request must not wait. */
  function show(reply: Reply, { request, mustSignIn, cookies, kit }: OpenInteraction): Reply {
    if (request.prompts.has('none')) throw refused(mustSignIn ? 'login_required' : 'interaction_required', kit.refuse)
    return { ...reply, cookies: [...(reply.cookies ?? []), ...cookies()] }
  }

  async function refuse(code: RefusalCode, { interaction, visit }: Opened): Promise<never> {
    await decisions.spend(visit)
    const { request, session, kit, http } = interaction
    if (code === 'access_denied') {
      const context = { sub: session?.subject.sub, client: request.client, clientAddress: http.clientAddress }
      kit.recordUser({ type: 'authorization_denied' }, context)
    }
    throw refused(code, kit.refuse)
  }

  async function finish(result: Result, opened: Opened): Promise<Reply> {
    const { interaction, visit, target } = opened
    if (isRefusal(result)) return refuse(result.refuse, opened)
    if (!isDecision(result)) return show(result, interaction)
    const decided = decisions.decide(result, interaction)
    const { sub } = decided.subject
    if (sub !== interaction.session?.subject.sub) await assertActive(sub, interaction.kit)
    const reply = await featureSteps(interaction, sub)
    if (reply !== undefined) return isRefusal(reply) ? refuse(reply.refuse, opened) : show(reply, interaction)
    await decisions.spend(visit)
    const { code, cookies } = await decisions.issue(decided, interaction)
    return { cookies, ...codeResponse(target, code, responseTools(pages, visit)) }
  }

  /** Returns the reply of a step, or sends its refusal to the client. */
  async function respond({ visit, target }: Pick<Opened, 'visit' | 'target'>, step: () => Promise<Reply>) {
    try {
      return await step()
    } catch (error) {
      if (isNotStored(error)) throw error
      return errorResponse(target, error, responseTools(pages, visit))
    }
  }

  return { interact, finish, refuse, respond }
}

export function createSteps(deps: StepDeps): Steps {
  const { pages, openInteraction, suspendedRequests, pushedRequests, sessions } = deps
  const { interact, finish, refuse, respond } = createLastSteps(deps)

  /** Refuses a request before its user has decided anything. */
  async function refuseFirst(target: Target, error: unknown, visit: Pick<Visit, 'params' | 'http' | 'kit'>) {
    const { params, http, kit } = visit
    const tools = { ...responseTools(pages, visit), pages }
    // While the storage fails, no user counts as signed in.
    const isSignedIn = async () => (await sessions.find(kit, http).catch(() => undefined)) !== undefined
    if (!needsPageFirst(target.client, params) || (await isSignedIn())) return errorResponse(target, error, tools)
    return pageFirst(target, error, tools, http, { requestId: http.requestId, home: homeOf(kit) })
  }

  /** From here on, the client receives every refusal, except that the request is not stored. */
  async function run(visit: Visit, target: Target, outcome?: Outcome): Promise<Reply> {
    let interaction: OpenInteraction
    try {
      interaction = await openInteraction(visit, target)
    } catch (error) {
      // The user of a suspended request has seen a page.
      if (visit.suspended === undefined) return refuseFirst(target, error, visit)
      return errorResponse(target, error, responseTools(pages, visit))
    }
    const opened = { visit, target, interaction }
    return respond(opened, async () =>
      finish(outcome === undefined ? await interact(interaction) : decisionOf(outcome), opened),
    )
  }

  /** Begins with a `request_uri`. Its redirect URI is not known until it is found; clients can repeat it beside it. */
  async function beginPushed(uri: string, requests: PushedRequests, received: Pick<Visit, 'params' | 'http' | 'kit'>) {
    const { params, http, kit } = received
    let pushed: PushedRequest
    try {
      pushed = await push(uri, received, requests)
    } catch (error) {
      if (params.redirect_uri === undefined) throw error
      return refuseFirst(await findTarget(params, kit, { http }), error, received)
    }
    return run({ ...pushed, pushed: uri, ...newVisit(http, kit) }, await findTarget(pushed.params, kit))
  }

  return {
    async begin(params, http, kit) {
      const { request_uri: uri } = params
      if (uri !== undefined && pushedRequests?.includes(uri)) {
        return beginPushed(uri, pushedRequests, { params, http, kit })
      }
      const target = await findTarget(params, kit, { http })
      if (pushedRequests?.isRequired(target.client)) {
        const error = kit.refuse('invalid_request', 'The request must be pushed', 'not_pushed')
        return refuseFirst(target, error, { params, http, kit })
      }
      return run({ params, confirmation: undefined, ...newVisit(http, kit) }, target)
    },

    async resume(id, ticket, http, kit) {
      const [visit, outcome] = await Promise.all([
        suspendedVisit(suspendedRequests, id, http, kit),
        ticket === undefined ? undefined : takeOutcome(kit, id, ticket),
      ])
      if (visit === undefined || (ticket !== undefined && outcome === undefined)) {
        throw kit.refuse('invalid_request', 'The request has expired, or was already answered', unknownReason(http))
      }
      return run(visit, await findTarget(visit.params, kit), outcome)
    },

    async find(id, http, kit) {
      const visit = await suspendedVisit(suspendedRequests, id, http, kit)
      if (visit === undefined) return undefined
      const target = await findTarget(visit.params, kit)
      return { visit, target, interaction: await openInteraction(visit, target) }
    },

    complete: (decision, opened) => respond(opened, () => finish({ ...decision, asked: true }, opened)),
    refuse: (code, opened) => respond(opened, () => refuse(code, opened)),
  }
}
