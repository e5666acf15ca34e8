import type { EndpointKit, JsonObject, Reply } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import type { SignInTools } from '../sign-in/sign-in.ts'
import { isFailure } from './failure.ts'
import { clockTolerance } from './library.ts'
import { findLink } from './links.ts'
import type { UpstreamClaims } from './provider.ts'
import { derivedSubject } from './upstream-claims.ts'
import type { Provider } from './upstream-options.ts'
import type { Upstream } from './upstreams.ts'

const schema = v.object({ sub: v.string() })
/** Longer than sessions usually last (seconds). */
const lifetime = 2_592_000
const maxLength = 255
const event = 'http://schemas.openid.net/event/backchannel-logout'
/** Seconds for which a logout token counts, also if its `exp` is later. */
const maxTokenAge = 300

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength

const sidKey = (iss: string, sid: string, { sha256 }: Pick<EndpointKit, 'sha256'>): string =>
  `upstream sid:${sha256(JSON.stringify([iss, sid]))}`
const userKey = (id: string): string => `upstream sub:${id}`

/** Remembers which user here belongs to a session at the provider, so that its logout token finds the user. */
export async function rememberSession(claims: UpstreamClaims, sub: string, kit: EndpointKit): Promise<void> {
  const id = derivedSubject(claims, kit)
  const expiresAt = kit.now() + lifetime
  const { iss, sid } = claims
  await Promise.all([
    isText(sid) && kit.records.put(sidKey(iss, sid, kit), { sub }, expiresAt),
    // Stored only if neither the hash nor a link identifies the user.
    sub !== id && (await findLink(kit, id)) === undefined && kit.records.put(userKey(id), { sub }, expiresAt),
  ])
}

/** Returns the user of a logout token. */
async function userOf(claims: JsonObject, { adapter }: Provider, kit: EndpointKit): Promise<string | undefined> {
  const { iss, sid } = claims
  if (typeof iss !== 'string') return undefined
  // As at the sign-in.
  const sub = adapter?.userOf === undefined ? claims.sub : adapter.userOf(claims)
  // Looked up by `sid` first: a logout token can lack the claims that name the user.
  const record = isText(sid) ? await kit.records.get(sidKey(iss, sid, kit), schema) : undefined
  if (record !== undefined || !isText(sub)) return record?.sub
  const id = derivedSubject({ iss, sub }, kit)
  return (await findLink(kit, id))?.sub ?? (await kit.records.get(userKey(id), schema))?.sub ?? id
}

/** Whether a verified token is a logout token, and not an identity token. @see Back-Channel Logout 1.0 section 2.6 */
function isLogoutToken({ events, nonce, iat, jti, sub, sid }: JsonObject, now: number): boolean {
  return (
    typeof events === 'object' &&
    events !== null &&
    Object.hasOwn(events, event) &&
    nonce === undefined &&
    isText(jti) &&
    typeof iat === 'number' &&
    Math.abs(now - iat) <= maxTokenAge + clockTolerance &&
    (isText(sub) || isText(sid))
  )
}

/**
 * Ends the sessions that a user has begun at a provider, when the provider reports the logout. If the token names one
 * session of the provider, all sessions of the user that began there end, because it is not known which of them belong
 * to it.
 *
 * @see OpenID Connect Back-Channel Logout 1.0
 */
export async function handleLogout(
  { logout_token: jwt }: Readonly<Record<string, string>>,
  kit: EndpointKit,
  { connection, tokens, keeper }: Upstream,
  { sessions }: Pick<SignInTools, 'sessions'>,
): Promise<Reply> {
  const { provider } = connection
  if (jwt === undefined) throw kit.refuse('invalid_request', 'The logout_token is missing', 'logout_token_missing')
  const opened = await connection.open(kit)
  if (isFailure(opened)) {
    throw kit.refuse('temporarily_unavailable', 'The service is temporarily unavailable', 'logout_unavailable')
  }
  const { jwks_uri: jwksUri, issuer } = opened.client.serverMetadata()
  const claims = await tokens.verify(jwt, { jwksUri, issuer }, kit)
  const refuse = (reason: string) => kit.refuse('invalid_request', 'The logout_token is not valid', reason)
  if (isFailure(claims)) throw refuse(`logout_${claims.failure}`)
  if (!isLogoutToken(claims, kit.now())) throw refuse('logout_token_malformed')
  const used = `used upstream logout:${kit.sha256(JSON.stringify([claims.iss, claims.jti]))}`
  if ((await kit.records.get(used, v.literal(true))) !== undefined) throw refuse('logout_token_replayed')
  const sub = await userOf(claims, provider, kit)
  if (sub !== undefined) {
    const all = await sessions.list(kit, sub)
    const begun = all.filter(({ subject }) => subject.idp === provider.name)
    await Promise.all([keeper.remove(kit, sub, provider.name), ...begun.map(({ sid }) => sessions.end(kit, sid))])
  }
  // Marked as used afterwards: if this process dies, the provider sends the token again, and ending a session twice has
  // no further effect.
  await kit.records.insert(used, true, kit.now() + 2 * (maxTokenAge + clockTolerance), keptRecord)
  return { json: {} }
}
