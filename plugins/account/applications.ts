import type { EndpointKit } from '@grantry/core'
import { createUserAuthorizations } from '../shared/user-authorizations.ts'
import type { ApplicationView } from './account-pages.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, mayStillChange, nameIn, urlOf, type Visit } from './visit.ts'

/** Returns a segment of a path for a client, because the id of a client can be a URL. */
const handleOf = (clientId: string, { sha256 }: Pick<EndpointKit, 'sha256'>): string => sha256(clientId).slice(0, 22)

const pathOf = (clientId: string, kit: EndpointKit): string => `applications/${handleOf(clientId, kit)}`

/** Returns the scopes that the user has allowed, by client: consents, and authorizations that last. */
async function allowed({ session, kit }: Visit, { consents }: AccountServices) {
  const { sub } = session.subject
  const [consented, lasting] = await Promise.all([consents.list(kit, sub), createUserAuthorizations(kit).list(sub)])
  const byClient = new Map<string, Set<string>>()
  for (const { clientId, scopes } of [...consented, ...lasting]) {
    byClient.set(clientId, new Set([...(byClient.get(clientId) ?? []), ...scopes]))
  }
  return byClient
}

async function viewOf(clientId: string, scopes: ReadonlySet<string>, kit: EndpointKit): Promise<ApplicationView> {
  // Lists a client that cannot be read, too: it has access nevertheless.
  const client = await kit.findClient(clientId).catch(() => undefined)
  return {
    clientId,
    name: client?.clientName,
    logoUri: client?.logoUri,
    scopes: [...scopes],
    withdraw: urlOf(kit, pathOf(clientId, kit)),
  }
}

/** Returns the applications with access, by name. */
export async function applicationViews(visit: Visit, services: AccountServices): Promise<readonly ApplicationView[]> {
  const byClient = await allowed(visit, services)
  const views = await Promise.all([...byClient].map(([clientId, scopes]) => viewOf(clientId, scopes, visit.kit)))
  const shownAs = ({ name, clientId }: ApplicationView): string => name ?? clientId
  return views.sort((left, right) => shownAs(left).localeCompare(shownAs(right)))
}

async function namedClient(visit: Visit, services: AccountServices) {
  const byClient = await allowed(visit, services)
  return [...byClient].find(([clientId]) => pathOf(clientId, visit.kit) === visit.path)
}

export const withdrawAccess: ChangePage = {
  async show(visit, services) {
    const { kit, session, locale } = visit
    const [clientId, scopes] = (await namedClient(visit, services)) ?? []
    if (clientId === undefined || scopes === undefined) return undefined
    const { withdraw: action, ...application } = await viewOf(clientId, scopes, kit)
    const form = { action, fields: { form_token: await formTokenFor(visit) } }
    const view = { subjectName: nameIn(session), form, back: urlOf(kit), application }
    return services.pages.confirm({ ...view, change: 'withdraw' }, locale)
  },
  async submit(_fields, visit, services) {
    const { kit, session } = visit
    const [clientId] = (await namedClient(visit, services)) ?? []
    if (clientId === undefined || !(await mayStillChange(visit, services))) return 'gone'
    const { sub } = session.subject
    // Comes first, because it also ends the consent. If it fails, the list still has the application.
    await kit.revoke({ subject: sub, clientId })
    await services.consents.revoke(kit, sub, clientId)
    await noteChange('access_withdrawn', visit, services)
    return 'access_withdrawn'
  },
}
