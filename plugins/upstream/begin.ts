import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { failed, isFailure, reasonOf, type UpstreamFailure } from './failure.ts'
import { type StoredState, stateLifetime, storeState } from './state.ts'
import type { Connection, Opened } from './upstream-connection.ts'
import type { Provider } from './upstream-options.ts'

export const callbackUrl = (kit: EndpointKit, { name }: Pick<Provider, 'name'>): string =>
  `${kit.endpointUrl('upstream')}/${name}/callback`

/** Returns the `max_age` to send: that of the request, and 0 if the user must sign in again (OpenID Connect Core 3.1.2.1). */
export const maxAgeFor = ({ prompts, maxAge }: SuspendedInteraction['request']): number | undefined =>
  prompts.has('login') ? 0 : maxAge

/**
 * Returns the parameters of the client's request that are passed on to the provider. Without `prompt=consent`, which
 * concerns the client.
 */
function passedOn({ request }: SuspendedInteraction, { adapter }: Provider): Readonly<Record<string, string>> {
  const { prompts, loginHint, uiLocales } = request
  const isOpenId = adapter?.endpoints === undefined
  const prompt = (['login', 'select_account'] as const).filter((value) => prompts.has(value)).join(' ')
  const maxAge = isOpenId ? maxAgeFor(request) : undefined
  return {
    ...(prompt !== '' && { prompt }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  }
}

/** An authorization request to a provider. */
export interface Departure {
  readonly kit: EndpointKit
  readonly http: EndpointRequest
  /** The parameters of the client's request that are passed on to the provider. */
  readonly passed: Readonly<Record<string, string>>
  readonly state: Pick<StoredState, 'interaction' | 'link' | 'maxAge'>
  readonly expiresAt: number
}

/** Returns the URL of an authorization request, which is pushed if the provider has an endpoint for it. */
async function requestUrl(
  { library: { oidc, dpopOf }, client }: Opened,
  { pushedRequests }: Provider,
  parameters: Readonly<Record<string, string>>,
): Promise<URL> {
  const isPushed =
    pushedRequests === 'auto' && client.serverMetadata().pushed_authorization_request_endpoint !== undefined
  if (isPushed) return oidc.buildAuthorizationUrlWithPAR(client, { ...parameters }, dpopOf(client))
  return oidc.buildAuthorizationUrl(client, { ...parameters })
}

/** Sends the browser to a provider, or returns why that is not possible. */
export async function depart(
  connection: Connection,
  { kit, http, passed, state: about, expiresAt }: Departure,
): Promise<Reply | UpstreamFailure> {
  const { provider } = connection
  const opened = await connection.open(kit)
  if (isFailure(opened)) return opened
  const [state, nonce, verifier] = [kit.randomId(), kit.randomId(), kit.randomId()]
  const startedAt = kit.now()
  await storeState(kit, http, state, { provider: provider.name, nonce, verifier, startedAt, ...about, expiresAt })
  try {
    const url = await requestUrl(opened, provider, {
      ...provider.parameters,
      ...passed,
      redirect_uri: callbackUrl(kit, provider),
      scope: provider.scope,
      state,
      code_challenge: kit.sha256(verifier),
      code_challenge_method: 'S256',
      ...(provider.adapter?.endpoints === undefined && { nonce }),
      ...(provider.responseMode === 'form_post' && { response_mode: 'form_post' }),
    })
    return { location: url.href }
  } catch (error) {
    // The only request that is sent here is the pushed one.
    return failed(reasonOf(error, 'par_endpoint'))
  }
}

/** Sends the browser of an interaction to a provider, or returns why that is not possible. */
export function beginSignIn(
  connection: Connection,
  interaction: SuspendedInteraction,
): Promise<Reply | UpstreamFailure> {
  const { kit, http, id, request } = interaction
  const maxAge = maxAgeFor(request)
  return depart(connection, {
    kit,
    http,
    passed: passedOn(interaction, connection.provider),
    state: { interaction: id, ...(maxAge !== undefined && { maxAge }) },
    expiresAt: Math.min(interaction.expiresAt, kit.now() + stateLifetime),
  })
}
