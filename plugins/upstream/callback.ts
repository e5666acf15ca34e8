import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import * as v from 'valibot'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { SignInProblem, SignInTools } from '../sign-in/sign-in.ts'
import { callbackUrl } from './begin.ts'
import { redeem } from './exchange.ts'
import { failed, isFailure, type UpstreamFailure } from './failure.ts'
import { identify, isStillLinked } from './identify.ts'
import { finishLink } from './linking.ts'
import { findState, spendState } from './state.ts'
import { authenticationOf, derivedSubject, nameOf } from './upstream-claims.ts'
import { rememberSession } from './upstream-logout.ts'
import type { Provider, Settings } from './upstream-options.ts'
import type { Upstream } from './upstreams.ts'

type Params = Readonly<Record<string, string>>

/** Characters of all parameters of a response. */
const maxLength = 8192
/** Seconds for which a form of a provider can be followed. */
const formLifetime = 120

const sealed = v.object({ provider: v.string(), params: v.record(v.string(), v.string()) })

const sizeOf = (params: Params): number => JSON.stringify(params).length

/**
 * Returns a redirect to the same callback by GET: browsers send no cookie with a form of another site, but with the
 * redirect that follows it. The parameters are encrypted, because URLs get into logs and the history.
 */
export async function formReply(params: Params, { connection }: Upstream, kit: EndpointKit): Promise<Reply> {
  const { provider } = connection
  if (sizeOf(params) > maxLength) throw kit.refuse('invalid_request', 'The response is too long', 'response_too_long')
  const form = await kit.seal({ provider: provider.name, params }, kit.now() + formLifetime)
  return { location: `${callbackUrl(kit, provider)}?${new URLSearchParams({ form })}` }
}

/** Returns the parameters of a response, also of one that came as a form. */
async function responseIn(params: Params, { connection }: Upstream, kit: EndpointKit): Promise<Params | undefined> {
  if (params.form === undefined) return sizeOf(params) > maxLength ? undefined : params
  const opened = await kit.unseal(params.form, sealed)
  return opened?.provider === connection.provider.name ? opened.params : undefined
}

/**
 * Returns the problem that the page shows. It never contains the text or the code of the provider, which can be
 * anything.
 */
const problemOf = ({ failure }: UpstreamFailure): SignInProblem => {
  if (failure === 'provider_access_denied') return 'provider_refused'
  if (failure.startsWith('auth_time_')) return 'provider_not_recent'
  if (failure === 'user_inactive') return 'provider_not_active'
  return failure === 'busy' || failure === 'provider_temporarily_unavailable'
    ? 'provider_unavailable'
    : 'provider_failed'
}

/** Shows the page of the sign-in with what went wrong, and records why. */
export function showFailure(
  failure: UpstreamFailure,
  interaction: SuspendedInteraction,
  { name, displayName = name }: Provider,
  tools: SignInTools,
): Promise<Reply> {
  const { kit, http, request } = interaction
  const context = { client: request.client, clientAddress: http.clientAddress }
  kit.recordUser({ type: 'upstream_sign_in_failed', idp: name, reason: failure.failure }, context)
  return tools.show(interaction, problemOf(failure), displayName)
}

/** Handles the response of a provider to a sign-in. */
export async function handleCallback(
  received: Params,
  http: EndpointRequest,
  kit: EndpointKit,
  upstream: Upstream,
  { tools, settings }: { readonly tools: SignInTools; readonly settings: Settings },
): Promise<Reply> {
  const { connection, keeper } = upstream
  const { provider } = connection
  const params = await responseIn(received, upstream, kit)
  const state = await findState(kit, params?.state)
  // Each provider has a callback of its own: a response of another one is not accepted here (RFC 9700 section 4.4).
  if (params?.state === undefined || state === undefined || state.provider !== provider.name) {
    return tools.expired(http, kit)
  }
  const { link } = state
  if (link !== undefined) return finishLink({ params, begun: state, link }, http, kit, upstream, tools)
  const interaction = await tools.interactions.find(kit, http, state.interaction ?? '')
  // Checked before the state is spent: another browser must not end the sign-in of this one.
  if (interaction === undefined) return tools.expired(http, kit)
  if (!(await spendState(kit, params.state, state))) {
    return { location: tools.interactions.resumeUrl(kit, interaction.id) }
  }
  const fail = (failure: UpstreamFailure) => showFailure(failure, interaction, provider, tools)
  const response = { params, callback: callbackUrl(kit, provider) }
  const redeemed = await redeem(connection, upstream.tokens, response, state, kit)
  if (isFailure(redeemed)) return fail(redeemed)
  const { claims, tokens: granted } = redeemed
  const { subject, provesTime, unproved } = authenticationOf(claims, provider, state, kit)
  const sub = await identify(claims, provider, { settings, keeper }, kit)
  if (isFailure(sub)) return fail(sub)
  // Without this check, the session would not be valid, and the sign-in page would appear again without a reason.
  if (!(await kit.isUserActive(sub))) return fail(failed('user_inactive'))
  // A code of the user proves that the user is here now.
  if (unproved !== undefined && !(await tools.hasSecondFactor(sub, kit))) return fail(unproved)
  await Promise.all([
    rememberSession(claims, sub, kit),
    keeper.keep(kit, { sub, account: derivedSubject(claims, kit) }, { provider: provider.name, tokens: granted }),
  ])
  const context = { sub, client: interaction.request.client, clientAddress: http.clientAddress }
  kit.recordUser({ type: 'upstream_sign_in_succeeded', idp: provider.name }, context)
  const confirm = () => isStillLinked(claims, sub, settings, kit)
  return tools.signIn({ subject: { sub, ...subject }, provesTime, name: nameOf(claims), confirm }, interaction)
}
