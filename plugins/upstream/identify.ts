import { domainOf, type EndpointKit, foldedDomain, isSameAddress } from '@grantry/core'
import type { AccountStore } from '../shared/account-store.ts'
import { failed, type UpstreamFailure } from './failure.ts'
import { findLink, insertLink, listLinks, noteFirst, removeLink } from './links.ts'
import { profileOf, storeUser } from './profile.ts'
import type { UpstreamClaims } from './provider.ts'
import type { TokenKeeper } from './token-keeper.ts'
import { derivedSubject, nameOf } from './upstream-claims.ts'
import type { Provider, Settings } from './upstream-options.ts'

interface Arrival {
  readonly claims: UpstreamClaims
  readonly provider: Provider
  readonly settings: Settings
  readonly kit: EndpointKit
  /** The hash of `iss` and `sub`. */
  readonly id: string
}

const linkOf = ({ claims, provider, kit }: Arrival, sub: string) => ({
  sub,
  provider: provider.name,
  name: nameOf(claims),
  linkedAt: kit.now(),
})

/** Returns the verified address, if the operator trusts the provider for its domain. */
function trustedMail({ claims, provider }: Arrival): string | undefined {
  const { email, email_verified: isVerified } = claims
  if (typeof email !== 'string' || isVerified !== true) return undefined
  const domain = domainOf(email)
  return domain !== undefined && provider.linkBy.some((linkDomain) => foldedDomain(linkDomain) === domain)
    ? email
    : undefined
}

/** Characters of the random part of a name: 96 bits. */
const nameLength = 16

/** Creates an account without an address. The address is added after the link is stored. */
async function createAccount({ claims, provider, kit }: Arrival, accounts: AccountStore) {
  const { email: _, email_verified: _verified, ...profile } = profileOf(claims, provider)
  // The name is random, so that a stranger who knows the user at the provider cannot have registered it before.
  const username = `${provider.name}-${kit.randomId().slice(0, nameLength)}`
  const account = { username, emailVerified: false, claims: profile }
  return kit.callHost('upstream.accounts.create', () => accounts.create(account))
}

/**
 * Adds the address of the provider to a new account. The store refuses an address that another account has verified.
 * The address counts as verified only if the operator trusts the provider for its domain: otherwise, a user of one
 * provider could claim the address of another user, whom a trusted provider would then sign in to this account.
 */
async function addMail(arrival: Arrival, sub: string, accounts: AccountStore): Promise<void> {
  const { claims, kit } = arrival
  const { email } = claims
  if (typeof email !== 'string') return
  const mail = { email, emailVerified: trustedMail(arrival) !== undefined }
  await kit.callHost('upstream.accounts.change', () => accounts.change(sub, mail))
}

/**
 * Whether the user has never had another account at the provider. An address can get a new owner, with another `sub`:
 * the local user belongs to the first one.
 *
 * @see OpenID Connect Core section 5.7
 */
async function isFirstOf(sub: string, { provider: { name, issuer }, kit, id }: Arrival): Promise<boolean> {
  const links = await listLinks(kit, sub)
  if (links.some((link) => link.provider === name && link.id !== id)) return false
  return (await noteFirst(kit, { sub, issuer }, id)) !== 'other'
}

/** Returns the user who has verified the address here, if the operator trusts the provider for it. */
async function knownBy(arrival: Arrival, accounts: AccountStore): Promise<string | undefined> {
  const mail = trustedMail(arrival)
  if (mail === undefined) return undefined
  const known = await arrival.kit.callHost('upstream.accounts.findByEmail', () => accounts.findByEmail(mail))
  // A spelling that only the store treats as equal is another mailbox.
  const isOwn = known?.emailVerified === true && known.email !== undefined && isSameAddress(known.email, mail)
  return isOwn && (await isFirstOf(known.sub, arrival)) ? known.sub : undefined
}

/** Links an account at a provider that signs in for the first time, to a user who exists, or to a new one. */
async function newcomer(arrival: Arrival, accounts: AccountStore): Promise<string | UpstreamFailure> {
  const { kit, id } = arrival
  const known = await knownBy(arrival, accounts)
  const created = known === undefined ? await createAccount(arrival, accounts) : undefined
  if (created === 'taken') return failed('account_taken')
  const sub = known ?? created?.sub ?? ''
  const outcome = await insertLink(kit, id, linkOf(arrival, sub))
  if (outcome === 'linked') {
    if (known === undefined) {
      // Noted before the account has an address, by which another account at the provider could be linked to it.
      await noteFirst(kit, { sub, issuer: arrival.provider.issuer }, id)
      await addMail(arrival, sub, accounts)
    }
    return sub
  }
  // A concurrent sign-in was first.
  if (known === undefined) await kit.callHost('upstream.accounts.remove', () => accounts.remove?.(sub))
  const first = outcome === 'taken' ? await findLink(kit, id) : undefined
  return first?.sub ?? failed('links_full')
}

/**
 * Whether an account at a provider still belongs to this user. A user whom the function `subject` of the host has
 * returned is not checked again.
 */
export async function isStillLinked(
  claims: UpstreamClaims,
  sub: string,
  { subject }: Settings,
  kit: EndpointKit,
): Promise<boolean> {
  const id = derivedSubject(claims, kit)
  const link = await findLink(kit, id)
  return link === undefined ? subject !== undefined || sub === id : link.sub === sub
}

/** Returns the user here of a user at a provider. */
export async function identify(
  claims: UpstreamClaims,
  provider: Provider,
  { settings, keeper }: { readonly settings: Settings; readonly keeper: TokenKeeper },
  kit: EndpointKit,
): Promise<string | UpstreamFailure> {
  const { subject, accounts } = settings
  const id = derivedSubject(claims, kit)
  const arrival = { claims, provider, settings, kit, id }
  const link = await findLink(kit, id)
  if (link !== undefined) {
    const isThere =
      accounts === undefined ||
      (await kit.callHost('upstream.accounts.find', () => accounts.find(link.sub))) !== undefined
    if (isThere) return link.sub
    await Promise.all([removeLink(kit, link.sub, id), keeper.remove(kit, link.sub)])
  }
  if (subject !== undefined) {
    const sub = await kit.callHost('upstream.subject', () => subject(claims, provider, kit))
    return typeof sub === 'string' && sub !== '' ? sub : failed('subject_refused')
  }
  if (accounts !== undefined) return newcomer(arrival, accounts)
  await storeUser(kit, id, profileOf(claims, provider))
  return id
}
