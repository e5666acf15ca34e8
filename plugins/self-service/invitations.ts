import { type EndpointKit, foldedAddress, hostKey, inexactNumberIn, type Json } from '@grantry/core'
import * as v from 'valibot'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { addressIn } from '../shared/mail-address.ts'
import { mailFailure } from '../shared/outgoing-mails.ts'
import { recordSet } from '../shared/record-set.ts'
import { callStore, type SelfServiceContext } from './flow.ts'

/** The maximum number of open invitations. A list reads as many places. */
const mostOutstanding = 1000

/** Characters of the claims of an invitation, as JSON. */
const mostClaims = 4096

/** An invitation of an administrator. */
export interface NewInvitation {
  /** The mail address of the new account. Its mail proves it. */
  readonly email: string
  /** Claims of the new account, such as `name`. Not `sub`, `email` and `email_verified`. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
  /** The language of the mail, such as `de`. Default: that of the pages. */
  readonly locale?: string | undefined
  /** From `newId()`, if it must be known before. */
  readonly id?: string | undefined
}

/** An invitation that no user has accepted yet. */
export interface Invitation {
  readonly id: string
  readonly email: string
  readonly claims: Readonly<Record<string, Json>>
  /** Epoch seconds. */
  readonly invitedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** Why there is no invitation. Nothing has changed. */
export type InvitationProblem =
  | 'address_malformed'
  | 'claims_malformed'
  | 'account_exists'
  /** The domain of the address belongs to a provider, where its users sign in. */
  | 'address_of_provider'
  | 'too_many_invitations'
  | 'mail_failed'

/** The invitations to create an account, for host code. */
export interface Invitations {
  newId(): string
  /** Sends an invitation. An earlier one to the same address ends. */
  invite(invitation: NewInvitation): Promise<Invitation | InvitationProblem>
  /** The invitations that no user has accepted yet, the newest first. */
  list(): Promise<readonly Invitation[]>
  /** Ends an invitation. `false` if there is none, or it was accepted. */
  withdraw(id: string): Promise<boolean>
}

/**
 * The key of the invitations.
 *
 * @example
 * await provider.use(invitations).invite({ email: 'carol@example.com', claims: { name: 'Carol' } })
 */
export const invitations = hostKey<Invitations>('invitations', "selfService({ signUp: 'invitation' }), in signIn(),")

const claimsSchema = v.record(
  v.string(),
  v.custom<Json>((value) => value !== undefined),
)
const schema = v.object({
  email: v.string(),
  /** A hash. */
  secret: v.string(),
  claims: claimsSchema,
  invitedAt: v.number(),
  expiresAt: v.number(),
})
type Stored = v.InferOutput<typeof schema>

/** 256 random bits. */
const idForm = /^[\w-]{43}$/u

const keyOf = (id: string): string => `invitation:${id}`
const usedKeyOf = (id: string): string => `used invitation:${id}`
const openOnes = (kit: EndpointKit) => recordSet(kit, 'invitations', mostOutstanding)

/** Returns the invitation of an id, unless it was used or has expired. */
async function findOpen(id: string, kit: EndpointKit): Promise<(Stored & { readonly id: string }) | undefined> {
  if (!idForm.test(id)) return undefined
  const stored = await kit.records.get(keyOf(id), schema)
  if (stored === undefined) return undefined
  const isUsed = (await kit.records.get(usedKeyOf(id), v.boolean())) === true
  return isUsed ? undefined : { ...stored, id }
}

/** Returns the invitation that a mailed link proves. Spends nothing. */
export async function findByToken(token: string, kit: EndpointKit): Promise<Invitation | undefined> {
  const [id = '', secret = ''] = token.slice(0, 100).split('.', 2)
  const stored = await findOpen(id, kit)
  if (stored === undefined || !kit.equals(stored.secret, kit.sha256(secret))) return undefined
  const { secret: _, ...invitation } = stored
  return invitation
}

/** Uses an invitation. `false` if another request has used it, or an administrator has withdrawn it. */
export const spendInvitation = ({ id, expiresAt }: Invitation, kit: EndpointKit): Promise<boolean> =>
  kit.records.insert(usedKeyOf(id), true, expiresAt + clockSkew, keptRecord)

/** Lets an invitation be used again: no account was created. */
export const reopenInvitation = ({ id }: Invitation, kit: EndpointKit): Promise<void> =>
  kit.records.delete(usedKeyOf(id))

/** Forgets an invitation that was used. */
export async function forgetInvitation(id: string, kit: EndpointKit): Promise<void> {
  await kit.records.delete(keyOf(id))
  await openOnes(kit).remove(id)
}

async function withdraw(id: string, kit: EndpointKit): Promise<boolean> {
  const stored = idForm.test(id) ? await kit.records.get(keyOf(id), schema) : undefined
  if (stored === undefined) return false
  // Spends the invitation, as the user who accepts it does: only one of the two succeeds.
  const isOpen = await spendInvitation({ ...stored, id }, kit)
  // Comes even if a user is about to accept the invitation: if the name is taken, it must not be open again.
  await forgetInvitation(id, kit)
  return isOpen
}

/** Returns the claims of an invitation; `undefined` if an account cannot have them. */
function claimsIn(requested: NewInvitation['claims'] = {}): Stored['claims'] | undefined {
  const { success, output } = v.safeParse(claimsSchema, requested)
  if (!success || JSON.stringify(output).length > mostClaims || inexactNumberIn(output) !== undefined) return undefined
  return ['sub', 'email', 'email_verified'].some((name) => Object.hasOwn(output, name)) ? undefined : output
}

/** Whether the address, or a name that equals it, belongs to an account. */
export async function hasAccount(email: string, services: SelfServiceContext, kit: EndpointKit): Promise<boolean> {
  const { names } = services.settings
  const verified = await callStore('findByEmail', kit, services, (store) => store.findByEmail(email))
  if (verified !== undefined || names === 'username') return verified !== undefined
  return (await callStore('findByName', kit, services, (store) => store.findByName(email))) !== undefined
}

/** Sends the mail. `false` if the server has not accepted it. */
async function sendMail(
  {
    email,
    locale,
    url,
    until,
  }: { readonly email: string; readonly locale?: string | undefined; url: string; until: number },
  { settings }: SelfServiceContext,
  kit: EndpointKit,
): Promise<boolean> {
  const { pages, mailer } = settings
  const mail = pages.mail({ kind: 'invitation', url, until }, pages.localeOf(locale, null))
  try {
    await kit.callHost('selfService.mailer', () => mailer.send({ to: email, ...mail }))
    return true
  } catch (error) {
    kit.recordUser({ type: 'mail_failed', purpose: 'invitation', reason: mailFailure(error) }, {})
    return false
  }
}

async function invite(invitation: NewInvitation, services: SelfServiceContext, kit: EndpointKit) {
  const email = addressIn(invitation.email)
  const claims = claimsIn(invitation.claims)
  if (email === undefined) return 'address_malformed'
  if (claims === undefined) return 'claims_malformed'
  // An account here would outlive the one at the provider.
  if (services.tools.isElsewhere(email)) return 'address_of_provider'
  if (await hasAccount(email, services, kit)) return 'account_exists'
  const { id = kit.randomId(), locale } = invitation
  const secret = kit.randomId()
  const invitedAt = kit.now()
  const expiresAt = invitedAt + services.settings.invitationLifetime
  const stored: Stored = { email, secret: kit.sha256(secret), claims, invitedAt, expiresAt }
  if (!idForm.test(id) || !(await kit.records.insert(keyOf(id), stored, expiresAt))) {
    throw new TypeError('The id of an invitation must be a new one of newId()')
  }
  if (!(await openOnes(kit).insert(id, expiresAt))) {
    await kit.records.delete(keyOf(id))
    return 'too_many_invitations'
  }
  const url = `${kit.endpointUrl('invitation')}?${new URLSearchParams({ token: `${id}.${secret}` })}`
  if (!(await sendMail({ email, locale, url, until: expiresAt }, services, kit))) {
    await withdraw(id, kit)
    return 'mail_failed'
  }
  // Comes after the mail: a mail that failed must not end an earlier invitation that has arrived.
  const latestKey = `invitation of:${kit.sha256(foldedAddress(email))}`
  const earlier = await kit.records.get(latestKey, v.string())
  await kit.records.put(latestKey, id, expiresAt)
  if (earlier !== undefined) await withdraw(earlier, kit)
  return { id, email, claims, invitedAt, expiresAt }
}

export const createInvitations = (services: SelfServiceContext, kit: EndpointKit): Invitations => ({
  newId: () => kit.randomId(),
  invite: (invitation) => invite(invitation, services, kit),
  async list() {
    const ids = await openOnes(kit).list()
    const opened = await Promise.all(ids.map((id) => findOpen(id, kit)))
    const shown = opened.flatMap((entry) => {
      if (entry === undefined) return []
      const { secret: _, ...invitation } = entry
      return [invitation]
    })
    return shown.sort((a, b) => b.invitedAt - a.invitedAt)
  },
  withdraw: (id) => withdraw(id, kit),
})
