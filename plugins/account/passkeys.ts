import type { Reply } from '@grantry/core'
import { isRecent } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountPasskeys } from '../shared/account-factors.ts'
import type { Account } from '../shared/account-store.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { passkeyDomain } from '../shared/passkey-domain.ts'
import { passkeyUserId } from '../shared/passkey-user.ts'
import type { AddPasskeyView, OverviewView } from './account-pages.ts'
import { noteChange } from './changes.ts'
import { isLastFactor } from './demand.ts'
import { deviceName } from './device.ts'
import { isKept } from './kept-form.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formLifetime, formOf, formTokenFor, nameIn, serviceOf, shownName, urlOf, type Visit } from './visit.ts'

/** Characters of a name that a user gives to something. */
const maxLength = 64

/** Returns a name without what cannot be seen: control characters, and marks that change the direction of the text. */
const labelIn = (text: string): string => {
  const visible = text
    .slice(0, maxLength * 4)
    .replaceAll(/[\p{C}\u2028\u2029]/gu, '')
    .trim()
  return [...visible].slice(0, maxLength).join('')
}

export const addPasskeyPath = 'passkeys/add'

/** Seconds that are left to create a passkey. A page with less is loaded again before the device acts. */
const minToCreate = 300

/**
 * The domain of new passkeys (`rp.id`); `undefined` if the host of the issuer is an IP address, for which browsers
 * create none.
 */
const rpIdOf = (passkeys: AccountPasskeys | undefined, { issuer }: Visit['kit']): string | undefined =>
  passkeys && passkeyDomain(passkeys.rpId, issuer)

/** Returns the passkeys of the user, the oldest first; `undefined` if browsers create none for this issuer. */
export async function passkeysView(
  visit: Visit,
  { passkeys, maxAge }: Pick<AccountServices, 'passkeys' | 'maxAge'>,
  ownAccount: Promise<Account | undefined>,
): Promise<OverviewView['passkeys']> {
  const { session, kit } = visit
  const rpId = rpIdOf(passkeys, kit)
  if (passkeys === undefined || rpId === undefined) return undefined
  const { sub } = session.subject
  // A passkey of the device is not in the list while its form waits for a new sign-in, or for its confirmation.
  const waits = !isRecent(session, maxAge, kit) || isKept(addPasskeyPath, visit)
  const [stored, account, isWaiting] = await Promise.all([passkeys.list(sub, kit), ownAccount, waits])
  const since = (time: number): number => Math.max(0, kit.now() - time)
  const list = stored.map(({ id, name, addedAt, usedAt }) => ({
    name,
    added: since(addedAt),
    unused: usedAt === undefined ? undefined : since(usedAt),
    rename: urlOf(kit, `passkeys/${id}/rename`),
    remove: urlOf(kit, `passkeys/${id}/remove`),
  }))
  const credentialIds = stored.flatMap(({ credentialId }) => credentialId ?? [])
  // The name of a session is that of its sign-in.
  const name = account?.username ?? nameIn(session)
  const signals = { rpId, userId: passkeyUserId(sub, kit), name, displayName: shownName(name, kit), credentialIds }
  // A list that is not complete would remove passkeys from the device.
  const isComplete = credentialIds.length === stored.length && !isWaiting
  return { list, add: urlOf(kit, addPasskeyPath), signals: isComplete ? signals : undefined }
}

/** The page with a new challenge: the hash of the form token, which is random and belongs to this session. */
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
    suggestedName: [browser, system].filter((part) => part !== undefined).join(', '),
    options: {
      challenge: kit.sha256(form_token),
      rp: { id: rpId, name: serviceOf(kit) },
      user: { id: passkeyUserId(sub, kit), name: userName, displayName: shownName(userName, kit) },
      algorithms: passkeys.algorithms,
      exclude: known,
      lifetime: formLifetime - minToCreate,
    },
    problem,
  }
  return pages.addPasskey(view, locale)
}

const problems = { not_valid: 'passkey_not_valid', known: 'passkey_known', too_many: 'passkey_limit' } as const

export const addPasskey: ChangePage = {
  keeps: 'passkey',
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
      // As long as the form can be sent, including a kept form.
      kit.now() + formLifetime + clockSkew,
      keptRecord,
    )
    if (!isFirst) return addPage(visit, services, 'passkey_not_valid')
    const { sub } = session.subject
    const label = labelIn(name)
    const passkey = { credential, challenge, origin, rpId, name: label, sub, userName: nameIn(session) }
    const added = await passkeys.add(passkey, kit)
    if (typeof added === 'string') return addPage(visit, services, problems[added])
    await noteChange('passkey_added', visit, services)
    return 'passkey_added'
  },
}

async function namedPasskey({ session, path, kit }: Visit, { passkeys }: AccountServices) {
  const id = path.split('/')[1]
  return (await passkeys?.list(session.subject.sub, kit))?.find((passkey) => passkey.id === id)
}

export const renamePasskey: ChangePage = {
  keeps: 'passkey_name',
  async show(visit, services) {
    const passkey = await namedPasskey(visit, services)
    if (passkey === undefined) return undefined
    return services.pages.renamePasskey({ ...(await formOf(visit)), name: passkey.name }, visit.locale)
  },
  async submit({ name = '' }, visit, services) {
    const passkey = await namedPasskey(visit, services)
    const { session, kit } = visit
    const isRenamed = passkey && (await services.passkeys?.rename(session.subject.sub, passkey.id, labelIn(name), kit))
    if (isRenamed !== true) return 'gone'
    await noteChange('passkey_renamed', visit, services)
    return 'passkey_renamed'
  },
}

export const removePasskey: ChangePage = {
  async show(visit, services) {
    const passkey = await namedPasskey(visit, services)
    if (passkey === undefined) return undefined
    const view = { ...(await formOf(visit)), change: 'remove_passkey', name: passkey.name } as const
    return services.pages.confirm(view, visit.locale)
  },
  async submit(_fields, visit, services) {
    const passkey = await namedPasskey(visit, services)
    const { session, kit } = visit
    if (passkey !== undefined && (await isLastFactor(visit, services))) return 'last_factor'
    const isRemoved = passkey && (await services.passkeys?.remove(session.subject.sub, passkey.id, kit))
    if (isRemoved !== true) return 'gone'
    await noteChange('passkey_removed', visit, services)
    return 'passkey_removed'
  },
}
