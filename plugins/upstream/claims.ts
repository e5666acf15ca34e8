import type { EndpointKit, Subject } from '@grantry/core'
import { failed, type UpstreamFailure } from './failure.ts'
import type { Provider } from './options.ts'
import type { UpstreamClaims } from './provider.ts'
import type { StoredState } from './state.ts'

const maxMethods = 10
const maxTextLength = 100
const maxNameLength = 200

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength

/** The methods that the provider states, or the one that the seed has for users of other providers. */
function methodsOf({ amr }: UpstreamClaims): readonly string[] {
  const methods = (Array.isArray(amr) ? amr : []).filter((one): one is string => isText(one, maxTextLength))
  return methods.length > 0 ? methods.slice(0, maxMethods) : ['external']
}

/** How the user is shown to the user. */
export function nameOf({ name, preferred_username, email, sub }: UpstreamClaims): string {
  return [name, preferred_username, email].find((one): one is string => isText(one, maxNameLength)) ?? sub
}

/**
 * Returns when the user has authenticated (epoch seconds). If the client demands a recent sign-in, the provider must
 * prove it.
 */
function authTimeOf(
  { auth_time: stated }: UpstreamClaims,
  { freshness }: Provider,
  { maxAge, startedAt }: StoredState,
  kit: Pick<EndpointKit, 'now'>,
): number | undefined {
  const now = kit.now()
  if (typeof stated !== 'number' || !Number.isFinite(stated) || stated < 0)
    return maxAge === undefined || freshness === 'assumed' ? now : undefined
  // With max_age=0 the user has signed in since the request left, also if the clock of the provider is behind.
  const isFresh = maxAge === 0 && freshness === 'proved'
  return Math.min(Math.floor(isFresh ? Math.max(stated, startedAt) : stated), now)
}

/** Returns how the user was authenticated, as tokens state it. */
export function authenticationOf(
  claims: UpstreamClaims,
  provider: Provider,
  state: StoredState,
  kit: Pick<EndpointKit, 'now'>,
): Omit<Subject, 'sub'> | UpstreamFailure {
  const authTime = authTimeOf(claims, provider, state, kit)
  if (authTime === undefined) return failed('auth_time_missing')
  const acr =
    typeof claims.acr === 'string' && Object.hasOwn(provider.acr, claims.acr) ? provider.acr[claims.acr] : undefined
  return { amr: methodsOf(claims), authTime, idp: provider.name, ...(acr !== undefined && { acr }) }
}

/** The `sub` of a user here: no other user of any provider can have it, and no local one. */
export const derivedSubject = ({ iss, sub }: UpstreamClaims, { sha256 }: Pick<EndpointKit, 'sha256'>): string =>
  sha256(JSON.stringify([iss, sub]))

const maxSubjectLength = 255
const maxMailLength = 254

/** Returns the claims with the `sub` that names the user at the provider. */
export function upstreamClaims(
  claims: Readonly<Record<string, unknown>>,
  issuer: string,
  { adapter }: Provider,
): UpstreamClaims | UpstreamFailure {
  const sub = adapter?.userOf === undefined ? claims.sub : adapter.userOf(claims)
  if (!isText(sub, maxSubjectLength)) return failed('sub_invalid')
  const refusal = adapter?.refuses?.(claims)
  if (refusal !== undefined) return failed(refusal)
  const { email, email_verified: stated, ...others } = claims
  const isVerified = adapter?.verifiesMail?.(claims) ?? (stated === true || stated === 'true')
  const mail = isText(email, maxMailLength) ? { email, email_verified: isVerified } : {}
  return { ...others, ...mail, iss: issuer, sub }
}
