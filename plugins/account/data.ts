import type { Json } from '@grantry/core'
import { createUserAuthorizations } from '../shared/user-authorizations.ts'
import { accountOf } from './accounts.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const dataPath = 'data'

/** Characters of what the host adds, as JSON. */
const maxAdded = 1_000_000

/**
 * Returns the data that the host stores about the user. A failure refuses the download, because an incomplete
 * document would seem complete.
 */
async function addedBy({ session, kit }: Visit, { downloadMore }: AccountServices): Promise<Json | undefined> {
  if (downloadMore === undefined) return undefined
  const added = await kit.callHost('account.downloadMore', () => downloadMore(session.subject.sub))
  const text: unknown = JSON.stringify(added)
  if (typeof text !== 'string' || text.length > maxAdded) {
    throw new TypeError(`accountPage(): downloadMore must return JSON of at most ${maxAdded} characters`)
  }
  return added
}

async function sessionsOf({ session, kit }: Visit, { sessions }: AccountServices): Promise<Json> {
  const all = await sessions.listWithUse(kit, session.subject.sub)
  return all.map(({ subject, name, device, startedAt, usedAt, expiresAt }) => ({
    name: name ?? null,
    userAgent: device?.userAgent ?? null,
    address: device?.address ?? null,
    authenticatedAt: subject.authTime,
    methods: [...subject.amr],
    startedAt,
    usedAt,
    expiresAt,
  }))
}

async function waysOf({ session, kit }: Visit, { passkeys, secondFactors, linkedProviders }: AccountServices) {
  const { sub } = session.subject
  const [keys, factors, links] = await Promise.all([
    passkeys?.list(sub, kit) ?? [],
    secondFactors?.state(sub, kit),
    linkedProviders?.linked(kit).list(sub) ?? [],
  ])
  return {
    passkeys: keys.map(({ name, addedAt, usedAt }) => ({ name, addedAt, usedAt: usedAt ?? null })),
    secondFactors: { authenticatorApp: factors?.app === true, recoveryCodes: factors?.codes === true },
    linkedAccounts: links.map(({ provider, name, linkedAt }) => ({ provider, name, linkedAt })),
  }
}

async function applicationsOf({ session, kit }: Visit, { consents }: AccountServices) {
  const { sub } = session.subject
  const [consented, lasting] = await Promise.all([consents.list(kit, sub), createUserAuthorizations(kit).list(sub)])
  return {
    consents: consented.map(({ clientId, scopes, claims }) => ({ clientId, scopes: [...scopes], claims: [...claims] })),
    authorizations: lasting.map(({ clientId, scopes, audiences, startedAt, expiresAt }) => ({
      clientId,
      scopes: [...scopes],
      audiences: [...audiences],
      startedAt,
      expiresAt,
    })),
  }
}

/**
 * Returns the data that the provider stores about the user, without secrets and their hashes. Times are in epoch
 * seconds.
 */
async function documentOf(visit: Visit, services: AccountServices): Promise<Json> {
  const [account, sessions, ways, applications, more] = await Promise.all([
    accountOf(visit, services),
    sessionsOf(visit, services),
    waysOf(visit, services),
    applicationsOf(visit, services),
    addedBy(visit, services),
  ])
  const { kit, session } = visit
  const { username, email, emailVerified, claims } = account ?? {}
  return {
    issuer: kit.issuer,
    downloadedAt: kit.now(),
    sub: session.subject.sub,
    // Copies members by name: a store of the host can return more, such as a hash.
    account:
      account === undefined
        ? null
        : {
            username: username ?? '',
            email: email ?? null,
            emailVerified: emailVerified === true,
            claims: { ...claims },
          },
    sessions,
    ...ways,
    ...applications,
    ...(more !== undefined && { more }),
  }
}

/** Lets the user download the data that are stored. */
export const downloadData: ChangePage = {
  async show(visit, { pages, download }) {
    if (!download) return undefined
    const { kit, session, path, locale } = visit
    const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } }
    return pages.confirm({ subjectName: nameIn(session), form, back: urlOf(kit), change: 'download_data' }, locale)
  },
  async submit(_fields, visit, services) {
    if (!services.download) return 'gone'
    const json = await documentOf(visit, services)
    await noteChange('data_downloaded', visit, services)
    return { json, headers: { 'content-disposition': 'attachment; filename="account.json"' } }
  },
}
