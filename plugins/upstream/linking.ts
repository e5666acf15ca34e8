import { type EndpointKit, type EndpointRequest, parseUrl, type Reply } from '@grantry/core'
import { isRecent, judgeFlow } from '../authorization-endpoint/authorization-endpoint.ts'
import type { LinkedProviders } from '../shared/linked-providers.ts'
import type { SignInTools } from '../sign-in/sign-in.ts'
import { callbackUrl, depart } from './begin.ts'
import { redeem } from './exchange.ts'
import { failed, isFailure, type UpstreamFailure } from './failure.ts'
import { forgetFirst, insertLink, listAllLinks, listLinks, noteFirst, removeLink } from './links.ts'
import { createUpstreamUsers, isUpstreamUser } from './profile.ts'
import { type StoredState, spendState, stateLifetime } from './state.ts'
import type { TokenKeeper } from './token-keeper.ts'
import { derivedSubject, nameOf } from './upstream-claims.ts'
import type { Upstream } from './upstreams.ts'

/** Seconds for which an authentication permits a link: a session that was stolen later does not. */
const maxAge = 600

const isOwn = (url: string, issuer: string): boolean => {
  const parsed = parseUrl(url)
  return parsed?.href.startsWith(`${issuer.replace(/\/$/u, '')}/`) === true
}

function returned(returnTo: string, link: string): Reply {
  const url = new URL(returnTo)
  url.searchParams.set('link', link)
  return { location: url.href }
}

export const createLinkedProviders = (
  upstreams: ReadonlyMap<string, Upstream>,
  keeper: TokenKeeper,
  kit: EndpointKit,
): LinkedProviders => ({
  providers: [...upstreams.values()].map(({ connection: { provider } }) => ({
    name: provider.name,
    displayName: provider.displayName ?? provider.name,
  })),
  list: (sub) => listLinks(kit, sub),
  isUpstreamUser: (sub) => isUpstreamUser(kit, sub),
  async forget(sub) {
    const links = await listAllLinks(kit, sub)
    await Promise.all(
      links.flatMap(({ id, provider }) => [removeLink(kit, sub, id), keeper.remove(kit, sub, provider)]),
    )
    const issuers = [...upstreams.values()].map(({ connection }) => connection.provider.issuer)
    await Promise.all([createUpstreamUsers(kit, keeper).remove(sub), forgetFirst(kit, sub, issuers)])
  },
  async unlink(sub, id, isStillAllowed) {
    const link = await removeLink(kit, sub, id, isStillAllowed)
    if (link !== undefined) await keeper.remove(kit, sub, link.provider, id)
    if (link !== undefined) kit.recordUser({ type: 'upstream_unlinked', idp: link.provider }, { sub })
    return link !== undefined
  },
  async begin(name, { sid, subject, provesTime = true }, http, returnTo) {
    const upstream = upstreams.get(name)
    if (upstream === undefined || !isRecent({ subject, provesTime }, maxAge, kit)) return undefined
    if (!isOwn(returnTo, kit.issuer)) throw new TypeError('returnTo must be a page below the issuer')
    const left = await depart(upstream.connection, {
      kit,
      http,
      passed: {},
      state: { link: { sid, sub: subject.sub, returnTo } },
      expiresAt: kit.now() + stateLifetime,
    })
    return isFailure(left) ? returned(returnTo, 'failed') : left
  },
})

/** Handles the response of a provider to a user who is signed in, and links another account. */
export async function finishLink(
  {
    params,
    begun,
    link,
  }: { params: Readonly<Record<string, string>>; begun: StoredState; link: NonNullable<StoredState['link']> },
  http: EndpointRequest,
  kit: EndpointKit,
  { connection, tokens, listeners, keeper }: Upstream,
  tools: SignInTools,
): Promise<Reply> {
  const { provider } = connection
  const judge = () => judgeFlow({ sid: link.sid, maxAge }, tools.sessions, http, kit)
  // Checks that this browser still has the session that began the link: no user may get the account of another user.
  const state = await judge()
  if (state === 'ended') return tools.expired(http, kit)
  if (!(await spendState(kit, params.state ?? '', begun))) return returned(link.returnTo, 'failed')
  const context = { sub: link.sub, clientAddress: http.clientAddress }
  const fail = ({ failure }: UpstreamFailure, outcome: string): Reply => {
    kit.recordUser({ type: 'upstream_sign_in_failed', idp: provider.name, reason: failure }, context)
    return returned(link.returnTo, outcome)
  }
  // The user can stay at the provider for longer than a session may permit links.
  if (state === 'outdated') return fail(failed('link_outdated'), 'failed')
  const redeemed = await redeem(connection, tokens, { params, callback: callbackUrl(kit, provider) }, begun, kit)
  if (isFailure(redeemed)) return fail(redeemed, 'failed')
  const { claims, tokens: granted } = redeemed
  const id = derivedSubject(claims, kit)
  // The account at the provider already has a user of its own here.
  const isUser = id !== link.sub && (await isUpstreamUser(kit, id))
  const stored = { sub: link.sub, provider: provider.name, name: nameOf(claims), linkedAt: kit.now() }
  const owner = { sub: link.sub, issuer: provider.issuer }
  async function mayStay(): Promise<boolean> {
    // Noted before the last check, so that a later removal of the user finds it. The note remains after the link has
    // ended, or the provider was renamed, so that no mail address links another account there to this user.
    const isNew = (await noteFirst(kit, owner, id)) === 'new'
    let isAllowed = false
    try {
      isAllowed = (await judge()) !== 'ended'
    } finally {
      if (!isAllowed && isNew) await forgetFirst(kit, link.sub, [provider.issuer])
    }
    return isAllowed
  }
  // A user who was revoked or deactivated while the provider responded must not get a link.
  const outcome = isUser ? 'taken' : await insertLink(kit, id, stored, mayStay)
  if (outcome === 'refused') return tools.expired(http, kit)
  if (outcome !== 'linked') return fail(failed(`link_${outcome}`), outcome)
  kit.recordUser({ type: 'upstream_linked', idp: provider.name }, context)
  await keeper.keep(kit, { sub: link.sub, account: id }, { provider: provider.name, tokens: granted })
  await Promise.all([...listeners].map((listener) => listener({ sub: link.sub, request: http, kit })))
  return returned(link.returnTo, 'linked')
}
