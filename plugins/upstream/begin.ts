import type { EndpointKit, Reply } from '@grantry/core'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { Connection } from './connection.ts'
import { failed, isFailure, reasonOf, type UpstreamFailure } from './failure.ts'
import type { Provider } from './options.ts'
import { stateLifetime, storeState } from './state.ts'

export const callbackUrl = (kit: EndpointKit, { name }: Pick<Provider, 'name'>): string =>
  `${kit.endpointUrl('upstream')}/${name}/callback`

/** Returns the `max_age` to send: that of the request, and 0 if the user must sign in again (OpenID Connect Core 3.1.2.1). */
export const maxAgeFor = ({ prompts, maxAge }: SuspendedInteraction['request']): number | undefined =>
  prompts.has('login') ? 0 : maxAge

/** What of the request of the client the provider receives. `consent` is about the client. */
function passedOn({ request }: SuspendedInteraction, { adapter }: Provider): Readonly<Record<string, string>> {
  const { prompts, loginHint, uiLocales } = request
  const isOpenId = adapter?.endpoints === undefined
  const prompt = (['login', 'select_account'] as const).filter((one) => prompts.has(one)).join(' ')
  const maxAge = isOpenId ? maxAgeFor(request) : undefined
  return {
    ...(prompt !== '' && { prompt }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  }
}

/** Sends the browser to a provider, or returns why that is not possible. */
export async function beginSignIn(
  connection: Connection,
  interaction: SuspendedInteraction,
): Promise<Reply | UpstreamFailure> {
  const { kit, http, id, request } = interaction
  const { provider } = connection
  const opened = await connection.open(kit)
  if (isFailure(opened)) return opened
  const { library, client } = opened
  const { oidc } = library
  const [state, nonce, verifier] = [kit.randomId(), kit.randomId(), kit.randomId()]
  const maxAge = maxAgeFor(request)
  const now = kit.now()
  await storeState(kit, http, state, {
    provider: provider.name,
    interaction: id,
    nonce,
    verifier,
    startedAt: now,
    ...(maxAge !== undefined && { maxAge }),
    expiresAt: Math.min(interaction.expiresAt, now + stateLifetime),
  })
  try {
    const url = oidc.buildAuthorizationUrl(client, {
      ...provider.parameters,
      ...passedOn(interaction, provider),
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
    return failed(reasonOf(error))
  }
}
