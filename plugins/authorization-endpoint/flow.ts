import {
  type Client,
  type Confirmation,
  type EndpointKit,
  type EndpointRequest,
  isOAuthError,
  type Reply,
} from '@grantry/core'
import type { PushedRequests } from './feature.ts'
import type {
  Decision,
  Interaction,
  InteractionPort,
  Interactions,
  Progress,
  RefusedInteraction,
  SuspendedInteraction,
  Suspension,
} from './interaction.ts'
import type { EndpointPages } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'
import { refused } from './refused.ts'
import { checkRequest, proposedGrant, refusal } from './request.ts'
import { mustSignIn, unmetBy } from './requirements.ts'
import { codeResponse, errorResponse, type ResponseTools, type Target } from './response.ts'
import type { Session, Sessions } from './sessions.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'
import { findTarget } from './target.ts'

/** An authorization request on its way to a code. */
interface Visit {
  readonly kit: EndpointKit
  readonly http: EndpointRequest
  readonly params: AuthorizationParameters
  readonly confirmation: Confirmation | undefined
  /** The `request_uri` of a pushed request. */
  readonly pushed: string | undefined
  /** Epoch seconds. */
  readonly startedAt: number
  readonly progress: Progress
  /** The id and the record of a suspended request. */
  readonly suspended: { readonly id: string; readonly record: SuspendedRecord } | undefined
}

export interface Flow extends Interactions {
  /** Handles a new request. @throws OAuthError for the user, not for the client. */
  begin(params: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
  /** Handles a request that was suspended. @throws OAuthError as `begin`. */
  resume(id: string, http: EndpointRequest, kit: EndpointKit): Promise<Reply>
}

const suspensionOf = ({ id, record }: NonNullable<Visit['suspended']>): Suspension => ({
  id,
  browser: record.browser,
  expiresAt: record.expiresAt,
})

const isDecision = (result: Decision | RefusedInteraction | Reply): result is Decision => 'scopes' in result
const isRefusal = (result: RefusedInteraction | Reply): result is RefusedInteraction => 'refuse' in result

export function createFlow(deps: {
  readonly port: InteractionPort
  readonly pages: EndpointPages
  readonly sessions: Sessions
  readonly suspendedRequests: SuspendedRequests
  readonly pushedRequests: PushedRequests | undefined
  readonly onAuthorized: readonly ((kit: EndpointKit, session: Session, client: Client) => Promise<void>)[]
  /** Seconds for which a request can be suspended. */
  readonly lifetime: number
}): Flow {
  const { port, pages, sessions, suspendedRequests, pushedRequests, onAuthorized, lifetime } = deps

  async function openInteraction(
    visit: Visit,
    target: Target,
  ): Promise<Interaction & { cookies(): readonly string[] }> {
    const { kit, http, params, confirmation, pushed, startedAt, progress } = visit
    const request = await checkRequest(target, params, confirmation, kit)
    const session = await sessions.find(kit, http)
    let stored: ReturnType<SuspendedRequests['store']> | undefined
    let cookies: readonly string[] = []
    return {
      request,
      session,
      mustSignIn: mustSignIn(session, request, { startedAt, progress }),
      progress,
      http,
      kit,
      sessions,
      async suspend() {
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

  const toolsOf = ({ kit, http, params }: Pick<Visit, 'kit' | 'http' | 'params'>): ResponseTools => ({
    issuer: kit.issuer,
    pages,
    locale: pages.localeOf(params.ui_locales, http.header('accept-language')),
  })

  /** Spends the suspended request and the pushed one. */
  async function spend({ suspended, pushed, kit }: Visit): Promise<void> {
    if (suspended !== undefined && !(await suspendedRequests.use(kit, suspended.id, suspended.record))) {
      throw refusal('invalid_request', 'The request was already answered', 'interaction_used')
    }
    if (pushed !== undefined && (await pushedRequests?.use(kit, pushed)) !== true) {
      throw refusal('invalid_request_uri', 'The request_uri is not valid', 'request_uri_used')
    }
  }

  async function decide({ subject: given, scopes }: Decision, interaction: Interaction, visit: Visit): Promise<string> {
    const { request, session, kit } = interaction
    const subject = given ?? session?.subject
    if (subject === undefined || (given === undefined && interaction.mustSignIn)) throw refused('login_required')
    if (unmetBy(subject, request, visit.startedAt) !== undefined) throw refused('login_required')
    if (!scopes.every((scope) => request.scopes.includes(scope))) {
      throw new TypeError('interact() returned a scope that was not requested')
    }
    await spend(visit)
    const isOfSession = session !== undefined && session.subject.sub === subject.sub
    if (isOfSession) await Promise.all(onAuthorized.map((notify) => notify(kit, session, request.client)))
    return kit.authorize({ ...proposedGrant({ ...request, scopes }), subject })
  }

  async function run(visit: Visit, target: Target): Promise<Reply> {
    try {
      const interaction = await openInteraction(visit, target)
      const isSilent = interaction.request.prompts.has('none')
      if (isSilent && interaction.mustSignIn) throw refused('login_required')
      const result = await port.interact(interaction)
      if (isDecision(result)) return codeResponse(target, await decide(result, interaction, visit), toolsOf(visit))
      if (isRefusal(result)) throw refused(result.refuse)
      if (isSilent) throw refused('interaction_required')
      return { ...result, cookies: [...(result.cookies ?? []), ...interaction.cookies()] }
    } catch (error) {
      if (!isOAuthError(error)) throw error
      return errorResponse(target, error, toolsOf(visit))
    }
  }

  async function visitOf(id: string, http: EndpointRequest, kit: EndpointKit): Promise<Visit | undefined> {
    const record = await suspendedRequests.find(kit, http, id)
    if (record === undefined) return undefined
    const { params, confirmation, pushed, startedAt, progress } = record
    return { kit, http, params, confirmation, pushed, startedAt, progress, suspended: { id, record } }
  }

  /** The visits of the interactions that `find` has returned. */
  const visits = new WeakMap<
    SuspendedInteraction,
    { readonly visit: Visit; readonly target: Target; readonly record: SuspendedRecord }
  >()
  const visitFor = (interaction: SuspendedInteraction) => {
    const found = visits.get(interaction)
    if (found === undefined) throw new TypeError('The interaction does not come from find()')
    return found
  }

  return {
    async begin(params, http, kit) {
      const { client_id: clientId = '', request_uri: uri } = params
      const visit = { kit, http, startedAt: kit.now(), progress: {}, suspended: undefined }
      if (uri !== undefined && pushedRequests?.includes(uri)) {
        const found = await pushedRequests.find(kit, uri, clientId)
        if (found === undefined) {
          throw refusal('invalid_request_uri', 'The request_uri is not valid', 'request_uri_unknown')
        }
        return run({ ...visit, ...found, pushed: uri }, await findTarget(found.params, kit))
      }
      const target = await findTarget(params, kit)
      if (pushedRequests?.isRequired(target.client)) {
        return errorResponse(
          target,
          refusal('invalid_request', 'The request must be pushed', 'not_pushed'),
          toolsOf({ kit, http, params }),
        )
      }
      return run({ ...visit, params, confirmation: undefined, pushed: undefined }, target)
    },

    async resume(id, http, kit) {
      const visit = await visitOf(id, http, kit)
      if (visit === undefined) {
        throw refusal('invalid_request', 'The request has expired, or was already answered', 'interaction_unknown')
      }
      return run(visit, await findTarget(visit.params, kit))
    },

    resumeUrl(kit, id) {
      return `${kit.endpointUrl('authorizationResume')}?${new URLSearchParams({ interaction: id })}`
    },

    async find(kit, http, id) {
      const visit = await visitOf(id, http, kit)
      if (visit?.suspended === undefined) return undefined
      const { record } = visit.suspended
      const target = await findTarget(visit.params, kit)
      const suspended = { ...(await openInteraction(visit, target)), ...suspensionOf(visit.suspended) }
      visits.set(suspended, { visit, target, record })
      return suspended
    },

    async proceed(interaction, progress) {
      const { record } = visitFor(interaction)
      const { kit, id } = interaction
      await suspendedRequests.update(kit, id, { ...record, progress: { ...record.progress, ...progress } })
    },

    async complete(interaction, decision) {
      const { visit, target } = visitFor(interaction)
      try {
        return codeResponse(target, await decide(decision, interaction, visit), toolsOf(visit))
      } catch (error) {
        if (!isOAuthError(error)) throw error
        return errorResponse(target, error, toolsOf(visit))
      }
    },

    async refuse(interaction, code) {
      const { visit, target } = visitFor(interaction)
      await spend(visit)
      return errorResponse(target, refused(code), toolsOf(visit))
    },
  }
}
