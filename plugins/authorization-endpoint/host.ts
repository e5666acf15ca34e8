import {
  type Client,
  type EndpointKit,
  hostKey,
  htmlHeaders,
  isOAuthError,
  type Kit,
  type OAuthError,
  type OAuthErrorCode,
  type Reply,
  readParameters,
  type Subject,
} from '@grantry/core'
import { homeOf } from '../shared/unknown-path.ts'
import { noteAuthorization } from '../shared/user-authorizations.ts'
import type { EndpointPages } from './authorization-pages.ts'
import type { Consents } from './consents.ts'
import { assertAcceptable, timed } from './decision.ts'
import type { RefusedInteraction } from './interaction.ts'
import { findTarget, withoutCredentials } from './parameters.ts'
import { assertActive, notAsked, refused } from './refusal.ts'
import { type CheckedRequest, checkRequest } from './request.ts'
import { startOf, withoutStart } from './request-start.ts'
import {
  type AuthorizationParameters,
  codeResponse,
  errorResponse,
  needsPageFirst,
  pageFirst,
  responseTools,
  type Target,
} from './response.ts'
import { type TimedSubject, type UnmetRequest, unmetOf } from './visit.ts'

/**
 * What a user has authorized on a page of the host, and why: the user was asked, now or before (`consented`), or the host
 * grants it without a question (`trusted`), to an application of its own.
 */
export type HostDecision = {
  readonly subject: Subject
  /** The granted scopes: a subset of the requested ones. */
  readonly scopes: readonly string[]
} & (
  | {
      readonly consented: true
      /**
       * Whether the user, who was asked now, need not be asked again: `userConsents` then suffice for requests that ask for no
       * more. A refusal, or a revocation meanwhile, leaves nothing. Default: `false`.
       */
      readonly remember?: boolean | undefined
    }
  | { readonly trusted: true }
)

/** What a page of the host sends to the browser, and whether the client gets a code by it. */
export interface HostAnswer {
  readonly response: Response
  /**
   * The error that the client receives instead of a code, also when the page has asked for a code. What the page keeps of the
   * flow, such as that a user has allowed it, must not be written then. `undefined` if the client receives a code.
   */
  readonly error: OAuthErrorCode | undefined
}

/** A checked request of a page of the host. */
export interface HostRequest extends CheckedRequest {
  /** The query with which the page parses the same request again, such as after a sign-in on another page. */
  readonly query: string
}

/** Authorization requests that pages of the host receive, and the responses to their clients. */
export interface AuthorizationRequests {
  /**
   * Checks a request: by GET in the query, or by POST in a form, which can have further fields of the page. Refusals are
   * ready responses: a redirect to the client, or a page.
   *
   * The page must ask `unmetBy` whether the user has to sign in first. After a sign-in, parse the same request
   * again, with its `query` or with `params` in a form: they state when it arrived, so that the new authentication counts.
   * Pushed requests are not supported, and clients that must push theirs are refused.
   *
   * @see RFC 6749 section 4.1.1; OpenID Connect Core section 3.1.2.1
   */
  parse(request: Request): Promise<HostRequest | { readonly response: Response }>
  /**
   * Returns why the user does not suffice for a request that `parse` has returned: `prompt`, `max_age`, `id_token_hint`, or a
   * requested `sub` or essential `acr`. `undefined` if the user can decide.
   *
   * @param user who is signed in on the pages of the host, and since when (`authTime`, epoch seconds)
   * @see OpenID Connect Core sections 3.1.2.1 and 5.5.1.1
   */
  unmetBy(request: CheckedRequest, user: TimedSubject | undefined): UnmetRequest | undefined
  /**
   * Sends a code, or a refusal, to the client of a request that `parse` has returned. A decision that the request does not
   * allow, such as one of another user than that of `id_token_hint`, becomes a refusal, and so does a revocation meanwhile.
   *
   * @throws TypeError for a scope that was not requested.
   */
  respond(request: CheckedRequest, result: HostDecision | RefusedInteraction): Promise<HostAnswer>
}

/**
 * The key of the authorization requests of pages of the host.
 *
 * @example
 * const checked = await provider.use(authorizationRequests).parse(request)
 */
export const authorizationRequests = hostKey<AuthorizationRequests>(
  'authorization-requests',
  'loginPage() or authorizationEndpoint()',
)

/** How pages of the host differ. */
interface HostSettings {
  /** The pages for refusals and `form_post`. */
  readonly pages: EndpointPages
  /** Whether all clients are applications of the host. */
  readonly trusted: boolean
  readonly mustPush: (client: Client) => boolean
  readonly consents: Consents
}

const isPermitted = (decision: HostDecision): boolean =>
  'trusted' in decision ? decision.trusted === true : decision.consented === true

/** Bytes; as `bodyLimit` of the provider. */
const maxLength = 65_536

const statusOf = ({ code, details }: OAuthError): number =>
  details.status ?? (code === 'temporarily_unavailable' ? 503 : code === 'server_error' ? 500 : 400)

/**
 * Returns the response that the core would create for a redirect or a page of the endpoint.
 *
 * @param status of a page
 */
function hostResponse({ html, sources, location }: Reply, { issuer }: Pick<Kit, 'issuer'>, status = 200): Response {
  if (location === undefined) return new Response(html, { status, headers: htmlHeaders(sources, issuer) })
  return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store', pragma: 'no-cache' } })
}

async function parse(
  request: Request,
  kit: EndpointKit,
  { pages, trusted, mustPush }: HostSettings,
): Promise<HostRequest | { readonly response: Response }> {
  const http = { header: (name: string) => request.headers.get(name) }
  let params: AuthorizationParameters = {}
  let target: Target | undefined
  try {
    const received = withoutStart(withoutCredentials(await readParameters(request, maxLength)))
    params = received.params
    target = await findTarget(received.params, kit, { http: { clientAddress: undefined } })
    if (mustPush(target.client)) throw kit.refuse('invalid_request', 'The request must be pushed', 'not_pushed')
    const { startedAt, started } = await startOf(kit, received)
    const checked = await checkRequest(target, { params, confirmation: undefined, startedAt }, kit)
    const repeated = { ...checked.params, ...started }
    return { ...checked, params: repeated, query: `?${new URLSearchParams(repeated)}` }
  } catch (error) {
    if (!isOAuthError(error)) throw error
    const tools = responseTools(pages, { kit, http, params })
    if (target !== undefined && !trusted && needsPageFirst(target.client, params)) {
      const page = pageFirst(target, error, { ...tools, pages }, http, { home: homeOf(kit) })
      return { response: hostResponse(page, kit, page.status === undefined ? statusOf(page.error) : 200) }
    }
    if (target !== undefined) return { response: hostResponse(errorResponse(target, error, tools), kit) }
    const page = pages.error({ code: error.code, reason: error.details.reason, home: homeOf(kit) }, tools.locale)
    return { response: hostResponse(page, kit, statusOf(error)) }
  }
}

async function respond(
  request: CheckedRequest,
  result: HostDecision | RefusedInteraction,
  kit: EndpointKit,
  { pages, consents }: HostSettings,
): Promise<HostAnswer> {
  const tools = responseTools(pages, { kit, http: { header: () => null }, params: request.params })
  try {
    if ('refuse' in result) throw refused(result.refuse, kit.refuse)
    if (!isPermitted(result)) throw notAsked(kit.refuse)
    const subject = timed(result.subject, kit.now())
    const { scopes } = result
    assertAcceptable({ scopes }, subject, request, kit.refuse)
    await assertActive(subject.sub, kit)
    const recalled = consents.recalled(subject.sub, request)
    // `null` is an epoch: that before any revocation.
    const proved = kit.provedEpochOf(result.subject)
    const subjectEpoch = proved === undefined ? recalled.subjectEpoch : proved
    const code = await kit.authorize(request.proposal, { ...recalled, subject, scopes, subjectEpoch })
    const epochs = kit.authorizedEpochs(request.proposal)
    const remember = 'consented' in result && result.remember === true
    // Comes after the code, with its epochs, so that no consent remains if the code is refused or revoked.
    await Promise.all([
      remember && consents.remember(kit, subject.sub, request, scopes, epochs),
      noteAuthorization(kit, request.proposal, { sub: subject.sub, scopes, epochs }),
    ])
    return { response: hostResponse(codeResponse(request, code, tools), kit), error: undefined }
  } catch (error) {
    if (!isOAuthError(error)) throw error
    return { response: hostResponse(errorResponse(request, error, tools), kit), error: error.code }
  }
}

export const createAuthorizationRequests = (kit: EndpointKit, settings: HostSettings): AuthorizationRequests => ({
  parse: (request) => parse(request, kit, settings),
  unmetBy: (request, user) => unmetOf(user, request),
  respond: (request, result) => respond(request, result, kit, settings),
})
