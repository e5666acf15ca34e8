import type { Reply } from '@grantry/core'
import type { AccountPasskeys } from '../shared/account-factors.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { passkeyDomain } from '../shared/passkey-domain.ts'
import { noteChange } from './changes.ts'
import { isLastFactor } from './demand.ts'
import { deviceName } from './device.ts'
import { labelIn } from './label.ts'
import type { AddPasskeyView, PasskeyView } from './pages.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const addPasskeyPath = 'passkeys/add'

/** Returns the passkeys of the user, the oldest first. */
export async function passkeyViews(
  { session, kit }: Visit,
  passkeys: AccountPasskeys,
): Promise<readonly PasskeyView[]> {
  const found = await passkeys.list(session.subject.sub, kit)
  const since = (time: number): number => Math.max(0, kit.now() - time)
  return found.map(({ id, name, addedAt, usedAt }) => ({
    name,
    added: since(addedAt),
    unused: usedAt === undefined ? undefined : since(usedAt),
    rename: urlOf(kit, `passkeys/${id}/rename`),
    remove: urlOf(kit, `passkeys/${id}/remove`),
  }))
}

/** The domain of new passkeys; `undefined` if there can be none, because it would be an IP address. */
const rpIdOf = (passkeys: AccountPasskeys | undefined, { issuer }: Visit['kit']): string | undefined =>
  passkeys && passkeyDomain(passkeys.rpId, issuer)

/** Seconds for which the challenge of a page is valid: as long as its form. */
const challengeLifetime = 1800

/** The page with a new challenge: the hash of the form token, which is random and belongs to this session. */
/** Whether browsers create passkeys for this issuer. */
export const canAddPasskeys = (passkeys: AccountPasskeys, kit: Visit['kit']): boolean =>
  rpIdOf(passkeys, kit) !== undefined

async function addPage(visit: Visit, services: AccountServices, problem?: AddPasskeyView['problem']): Promise<Reply> {
  const { session, kit, request, locale } = visit
  const { passkeys, pages } = services
  const rpId = rpIdOf(passkeys, kit)
  if (passkeys === undefined || rpId === undefined) return { location: urlOf(kit) }
  const { sub } = session.subject
  const [form_token, known] = await Promise.all([formTokenFor(visit), passkeys.credentialIds(sub, kit)])
  const { browser, system } = deviceName(request.header('user-agent') ?? undefined)
  const userName = nameIn(session)
  const view: AddPasskeyView = {
    subjectName: userName,
    form: { action: urlOf(kit, addPasskeyPath), fields: { form_token } },
    back: urlOf(kit),
    suggestedName: [browser, system].filter((one) => one !== undefined).join(', '),
    options: {
      challenge: kit.sha256(form_token),
      rp: { id: rpId, name: new URL(kit.issuer).host },
      // WebAuthn Level 3 section 5.4.3: the id must not identify the user to others.
      user: { id: kit.sha256(`passkey user ${sub}`), name: userName, displayName: userName },
      algorithms: passkeys.algorithms,
      exclude: known,
    },
    problem,
  }
  return pages.addPasskey(view, locale)
}

const problems = { not_valid: 'passkey_not_valid', known: 'passkey_known', too_many: 'passkey_limit' } as const

export const addPasskey: ChangePage = {
  show: (visit, services) => addPage(visit, services),
  async submit({ credential = '', name = '', form_token = '' }, visit, services) {
    const { session, kit } = visit
    const { passkeys } = services
    const rpId = rpIdOf(passkeys, kit)
    if (passkeys === undefined || rpId === undefined) return 'gone'
    const challenge = kit.sha256(form_token)
    const { origin } = new URL(kit.issuer)
    // WebAuthn Level 3 section 13.4.3: a challenge is accepted once, also by another process.
    const isFirst = await kit.records.insert(
      `used challenge:${challenge}`,
      true,
      kit.now() + challengeLifetime + clockSkew,
    )
    if (!isFirst) return addPage(visit, services, 'passkey_not_valid')
    const { sub } = session.subject
    const label = labelIn(name)
    const passkey = { credential, challenge, origin, rpId, name: label, sub, userName: nameIn(session) }
    const added = await passkeys.add(passkey, kit)
    if (typeof added === 'string') return addPage(visit, services, problems[added])
    // A user who was revoked in between has lost the session, and must not keep a new key.
    if ((await services.sessions.find(kit, visit.request)) === undefined) {
      await passkeys.remove(sub, added.id, kit)
      return addPage(visit, services, 'passkey_not_valid')
    }
    await noteChange('passkey_added', visit, services)
    return 'passkey_added'
  },
}

/** Returns the passkey that a path names. */
async function namedPasskey({ session, path, kit }: Visit, { passkeys }: AccountServices) {
  const id = path.split('/')[1]
  return (await passkeys?.list(session.subject.sub, kit))?.find((one) => one.id === id)
}

const formOf = async (visit: Visit) => ({
  subjectName: nameIn(visit.session),
  form: { action: urlOf(visit.kit, visit.path), fields: { form_token: await formTokenFor(visit) } },
  back: urlOf(visit.kit),
})

export const renamePasskey: ChangePage = {
  async show(visit, services) {
    const found = await namedPasskey(visit, services)
    if (found === undefined) return undefined
    return services.pages.renamePasskey({ ...(await formOf(visit)), name: found.name }, visit.locale)
  },
  async submit({ name = '' }, visit, services) {
    const found = await namedPasskey(visit, services)
    const { session, kit } = visit
    const isRenamed = found && (await services.passkeys?.rename(session.subject.sub, found.id, labelIn(name), kit))
    if (isRenamed !== true) return 'gone'
    await noteChange('passkey_renamed', visit, services)
    return 'passkey_renamed'
  },
}

export const removePasskey: ChangePage = {
  async show(visit, services) {
    const found = await namedPasskey(visit, services)
    if (found === undefined) return undefined
    const view = { ...(await formOf(visit)), change: 'remove_passkey', name: found.name } as const
    return services.pages.confirm(view, visit.locale)
  },
  async submit(_fields, visit, services) {
    const found = await namedPasskey(visit, services)
    const { session, kit } = visit
    if (found !== undefined && (await isLastFactor(visit, services))) return 'last_factor'
    const isRemoved = found && (await services.passkeys?.remove(session.subject.sub, found.id, kit))
    if (isRemoved !== true) return 'gone'
    await noteChange('passkey_removed', visit, services)
    return 'passkey_removed'
  },
}
