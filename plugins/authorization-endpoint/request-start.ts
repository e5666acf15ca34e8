import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import type { AuthorizationParameters } from './response.ts'

/** The parameter that carries when a request arrived first, for pages that parse it again after the sign-in. */
const parameter = 'grantry_started'

/** Seconds that a user can take to sign in. Afterwards, the request counts as a new one. */
const lifetime = 1800

const schema = v.object({ request: v.string(), at: v.number() })

/** Takes the parameter out of the others. */
export function withoutStart({ [parameter]: start, ...params }: AuthorizationParameters): {
  readonly start: string | undefined
  readonly params: AuthorizationParameters
} {
  return { start, params }
}

/**
 * The parameters that distinguish requests, and those that depend on the time. Others are ignored, because a form can
 * have further fields of the page.
 */
const names = [
  'client_id',
  'redirect_uri',
  'state',
  'nonce',
  'code_challenge',
  'prompt',
  'max_age',
  'id_token_hint',
  'claims',
] as const

/** The time belongs to one request: in another one, it would weaken `prompt=login`. */
const digestOf = (kit: EndpointKit, params: AuthorizationParameters): string =>
  kit.sha256(JSON.stringify(names.map((name) => params[name] ?? '')))

/** Returns when the request arrived first (epoch seconds), and the parameter that states it. */
export async function startOf(
  kit: EndpointKit,
  { start, params }: ReturnType<typeof withoutStart>,
): Promise<{ readonly startedAt: number; readonly started: AuthorizationParameters }> {
  const request = digestOf(kit, params)
  const earlier = start === undefined ? undefined : await kit.unseal(start, schema)
  if (start !== undefined && earlier?.request === request)
    return { startedAt: earlier.at, started: { [parameter]: start } }
  const at = kit.now()
  return { startedAt: at, started: { [parameter]: await kit.seal({ request, at }, at + lifetime) } }
}
