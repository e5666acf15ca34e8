import type { LinkedProviders } from '../shared/linked-providers.ts'
import type { AccountNotice, LinkedView } from './account-pages.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formOf, urlOf, type Visit } from './visit.ts'

/** Where the browser comes back to from a provider. */
export const linkedPath = 'providers'
const addPath = `${linkedPath}/add`

/** `upstream()` permits a link for this time after an authentication (seconds). */
const maxLinkAge = 600

const outcomes: Readonly<Record<string, AccountNotice>> = {
  linked: 'provider_linked',
  taken: 'link_taken',
  full: 'link_full',
  failed: 'link_failed',
}

/** What the overview reports when the browser comes back from a provider. */
export const linkNotice = (outcome: string | undefined): AccountNotice | undefined =>
  outcome !== undefined && Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined

const shownAs = ({ providers }: LinkedProviders, name: string): string =>
  providers.find((provider) => provider.name === name)?.displayName ?? name

/** Returns the links of the user, and the providers at which the user can link an account. */
export async function linkedView(
  { session, kit }: Visit,
  { linkedProviders }: AccountServices,
): Promise<LinkedView | undefined> {
  const linked = linkedProviders?.linked(kit)
  if (linked === undefined) return undefined
  const links = await linked.list(session.subject.sub)
  return {
    list: links.map(({ id, provider, name }) => ({
      provider: shownAs(linked, provider),
      name,
      remove: urlOf(kit, `${linkedPath}/${id}/remove`),
    })),
    add: linked.providers.map(({ name, displayName }) => ({
      provider: displayName,
      url: urlOf(kit, `${addPath}/${name}`),
    })),
  }
}

const namedProvider = (linked: LinkedProviders | undefined, path: string) =>
  linked?.providers.find(({ name }) => path === `${addPath}/${name}`)

/**
 * Asks before the browser is redirected to the provider: a site that opens this page must not link the account of
 * another user.
 */
export const linkProvider: ChangePage = {
  maxAge: maxLinkAge,
  byLink: true,
  async show(visit, { linkedProviders, pages }) {
    const provider = namedProvider(linkedProviders?.linked(visit.kit), visit.path)
    if (provider === undefined) return undefined
    const view = { ...(await formOf(visit)), change: 'link_provider', provider: provider.displayName } as const
    return pages.confirm(view, visit.locale)
  },
  async submit(_fields, { session, path, kit, request }, { linkedProviders }) {
    const linked = linkedProviders?.linked(kit)
    const provider = namedProvider(linked, path)
    if (linked === undefined || provider === undefined) return 'gone'
    return (await linked.begin(provider.name, session, request, urlOf(kit, linkedPath))) ?? 'gone'
  },
}

/**
 * Whether the user can still sign in without a link. If the user has signed in without a provider now, this is
 * certain.
 */
async function hasOtherWay(
  { session, kit }: Visit,
  { passkeys }: AccountServices,
  linked: LinkedProviders,
  id: string,
) {
  const { sub, idp } = session.subject
  const isOffered = (name: string | undefined): boolean => linked.providers.some((provider) => provider.name === name)
  const [links, keys] = await Promise.all([linked.list(sub), passkeys?.list(sub, kit) ?? []])
  if (keys.length > 0 || links.some((link) => link.id !== id && isOffered(link.provider))) return true
  const isAtProvider = isOffered(idp) || links.some(({ provider }) => provider === idp)
  return !isAtProvider || linked.isUpstreamUser(sub)
}

/**
 * Ends the other sessions that have begun at a provider, and would outlive the link. A session does not know which of
 * several accounts at the provider it has begun with.
 */
async function endSessionsAt(provider: string, { session, kit }: Visit, { sessions }: AccountServices): Promise<void> {
  const all = await sessions.list(kit, session.subject.sub)
  const begun = all.filter(({ sid, subject }) => subject.idp === provider && sid !== session.sid)
  await Promise.all(begun.map(({ sid }) => sessions.end(kit, sid)))
}

async function namedLink({ session, path, kit }: Visit, { linkedProviders }: AccountServices) {
  const linked = linkedProviders?.linked(kit)
  const link = (await linked?.list(session.subject.sub))?.find(({ id }) => path === `${linkedPath}/${id}/remove`)
  return linked && link && { linked, link }
}

export const unlinkProvider: ChangePage = {
  async show(visit, services) {
    const named = await namedLink(visit, services)
    if (named === undefined) return undefined
    const provider = shownAs(named.linked, named.link.provider)
    const view = { ...(await formOf(visit)), change: 'unlink_provider', provider } as const
    return services.pages.confirm(view, visit.locale)
  },
  async submit(_fields, visit, services) {
    const named = await namedLink(visit, services)
    if (named === undefined) return 'gone'
    const { linked, link } = named
    if (!(await hasOtherWay(visit, services, linked, link.id))) return 'last_way'
    // Ends them before the removal, so that none is left if this process dies, and after it, for sign-ins in between.
    await endSessionsAt(link.provider, visit, services)
    const { sid, subject } = visit.session
    const isUnlinked = await linked.unlink(subject.sub, link.id)
    if (isUnlinked) {
      await endSessionsAt(link.provider, visit, services)
      await noteChange('provider_unlinked', visit, services)
    }
    if (subject.idp !== link.provider) return isUnlinked ? 'provider_unlinked' : 'gone'
    // Last, because it permits the other changes. The user signs in again, another way.
    await services.sessions.end(visit.kit, sid)
    return { location: urlOf(visit.kit) }
  },
}
