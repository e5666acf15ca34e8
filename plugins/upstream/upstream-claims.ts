import type { EndpointKit, Subject } from '@grantry/core'
import { failed, type UpstreamFailure } from './failure.ts'
import { clockTolerance } from './library.ts'
import type { UpstreamClaims } from './provider.ts'
import type { StoredState } from './state.ts'
import type { Provider } from './upstream-options.ts'

const maxMethods = 10
const maxTextLength = 100
const maxNameLength = 200

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength

/** The methods that the provider states, or the one that the seed has for users of other providers. */
function methodsOf({ amr }: UpstreamClaims): readonly string[] {
  const methods = (Array.isArray(amr) ? amr : []).filter((method): method is string => isText(method, maxTextLength))
  return methods.length > 0 ? methods.slice(0, maxMethods) : ['external']
}

/** How the user is shown to the user. */
export function nameOf({ name, preferred_username, email, sub }: UpstreamClaims): string {
  return [name, preferred_username, email].find((text): text is string => isText(text, maxNameLength)) ?? sub
}

/** How a provider has authenticated a user. */
export interface UpstreamAuthentication {
  readonly subject: Omit<Subject, 'sub'>
  /** `false`: `authTime` is not known to be when the user authenticated. */
  readonly provesTime: boolean
  /** Why the authentication does not prove to be as recent as the request demands. */
  readonly unproved?: UpstreamFailure | undefined
}

/** Returns when the user has authenticated (epoch seconds), and whether the provider proves that time. */
function timeOf(
  { auth_time: stated }: UpstreamClaims,
  { freshness }: Provider,
  { maxAge, startedAt }: StoredState,
  kit: Pick<EndpointKit, 'now'>,
) {
  const now = kit.now()
  const isProved = freshness === 'proved'
  if (typeof stated !== 'number' || !Number.isFinite(stated) || stated < 0) {
    const isMissed = isProved && maxAge !== undefined
    return { authTime: now, provesTime: !isProved, unproved: isMissed ? failed('auth_time_missing') : undefined }
  }
  // The user has signed in before the response came: the time since the request does not count.
  if (isProved && maxAge !== undefined && stated < startedAt - maxAge - clockTolerance) {
    return { authTime: Math.floor(stated), provesTime: false, unproved: failed('auth_time_outdated') }
  }
  // With max_age=0 the user has signed in since the request left, also if the clock of the provider is behind.
  const isFresh = maxAge === 0 && isProved
  return { authTime: Math.min(Math.floor(isFresh ? Math.max(stated, startedAt) : stated), now), provesTime: true }
}

/** Returns how the user was authenticated, as tokens state it. */
export function authenticationOf(
  claims: UpstreamClaims,
  provider: Provider,
  state: StoredState,
  kit: Pick<EndpointKit, 'now'>,
): UpstreamAuthentication {
  const { authTime, ...proof } = timeOf(claims, provider, state, kit)
  const acr =
    typeof claims.acr === 'string' && Object.hasOwn(provider.acr, claims.acr) ? provider.acr[claims.acr] : undefined
  const subject = { amr: methodsOf(claims), authTime, idp: provider.name, ...(acr !== undefined && { acr }) }
  return { subject, ...proof }
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
