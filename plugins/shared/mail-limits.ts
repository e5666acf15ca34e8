import { addressGroupOf, configurationObject, type EndpointKit, type OAuthError, siteOf } from '@grantry/core'
import * as v from 'valibot'
import { wholeNumber } from './config-schema.ts'

/** Seconds. */
const window = 3600

/** The schema of the limits, as users configure them. */
export const mailLimitsSchema = v.optional(
  configurationObject({
    /**
     * To one address: from all networks in which its user has signed in, and as many from all others. One network gets
     * three fifths of them, at least 3.
     */
    perAddress: v.optional(wholeNumber(1, 1000), 5),
    /** From one network: an IPv4 address, or an IPv6 network of 64 bits. */
    perNetwork: v.optional(wholeNumber(1, 1_000_000), 50),
    /** Of those that are sent. */
    total: v.optional(wholeNumber(1, 10_000_000), 5000),
  }),
  {},
)

/** How many mails an hour can be requested. */
export type MailLimits = Readonly<v.InferOutput<typeof mailLimitsSchema>>

const tooMany = (retryAfter: number, { refuse }: EndpointKit): OAuthError =>
  refuse('slow_down', 'Too many mails were requested', 'mail_limit', { status: 429, retryAfter })

/** An IPv6 site has 65,536 networks. Its limit is that of this number of networks. */
export const networksOfSite = 4

/** Returns the current window, and the counters in it. */
export function windowOf({ records, now }: EndpointKit) {
  const current = Math.floor(now() / window)
  const end = (current + 1) * window
  const keyOf = (...name: readonly string[]): string => `mails:${JSON.stringify([current, ...name])}`
  const count = (...name: readonly string[]): Promise<number> => records.increment(keyOf(...name), end + 60)
  return { end, keyOf, count }
}

const assertNotOver = async (most: number, name: readonly string[], kit: EndpointKit): Promise<void> => {
  const { end, count } = windowOf(kit)
  if ((await count(...name)) > most) throw tooMany(end - kit.now(), kit)
}

/**
 * Counts a mail of a network before an address is looked up.
 *
 * @throws OAuthError `slow_down`
 */
export async function countNetwork(
  clientAddress: string | undefined,
  { perNetwork }: MailLimits,
  kit: EndpointKit,
): Promise<void> {
  if (clientAddress === undefined) return
  const network = addressGroupOf(clientAddress)
  const site = siteOf(clientAddress)
  await assertNotOver(perNetwork, ['network', network], kit)
  if (site !== network) await assertNotOver(networksOfSite * perNetwork, ['site', site], kit)
}

/** Mails that one network can ask for to one address: not all of them, so that one stranger leaves some to the owner. */
const shareOf = (perAddress: number): number => Math.min(perAddress, Math.max(3, Math.ceil(perAddress * 0.6)))

/**
 * Counts a mail to an address, whether or not an account has it. Networks in which the user has signed in are counted
 * separately from all others: strangers elsewhere cannot use up the mails of the owner.
 *
 * @param mailbox see `mailboxOf()`
 * @throws OAuthError `slow_down`
 */
export async function countAddress(
  mailbox: string,
  { clientAddress, isKnown }: { readonly clientAddress: string | undefined; readonly isKnown: boolean },
  { perAddress }: MailLimits,
  kit: EndpointKit,
): Promise<void> {
  // Counts the network first: a network that floods must not use up the mails of an address.
  if (clientAddress !== undefined) {
    await assertNotOver(shareOf(perAddress), ['address from', mailbox, siteOf(clientAddress)], kit)
  }
  await assertNotOver(perAddress, [isKnown ? 'known' : 'address', mailbox], kit)
}

/** Seconds for which a network counts as known after a sign-in there. */
const knownLifetime = 2_592_000

const placeOf = (sub: string, clientAddress: string, { sha256 }: Pick<EndpointKit, 'sha256'>): string =>
  `signed in:${sha256(JSON.stringify([sub, addressGroupOf(clientAddress)]))}`

/** Remembers that a user has signed in in this network. */
export async function rememberPlace(sub: string, clientAddress: string | undefined, kit: EndpointKit): Promise<void> {
  if (clientAddress === undefined) return
  await kit.records.put(placeOf(sub, clientAddress, kit), true, kit.now() + knownLifetime)
}

/** Whether the user has signed in in this network. Takes the same time for an address without an account. */
export const isKnownPlace = async (
  sub: string | undefined,
  clientAddress: string | undefined,
  kit: EndpointKit,
): Promise<boolean> =>
  clientAddress !== undefined &&
  (await kit.records.get(placeOf(sub ?? ' ', clientAddress, kit), v.boolean())) === true &&
  sub !== undefined

/**
 * The kind under which a mail is counted: for a new account (`sign_up`), for a new address of a user who is signed in
 * (`address`), and for a user who asks for the mail in a known network (`known`) or elsewhere (`elsewhere`).
 */
export type MailKind = 'sign_up' | 'address' | 'known' | 'elsewhere'

/**
 * The shares of all mails, in tenths. Strangers can use up four tenths with new accounts, and seven together with
 * addresses of users. Two tenths are left for users who are signed in, and one for users in networks in which they have
 * signed in.
 */
const shares = { all: 10, elsewhere: 7, sign_up: 4, address: 2 } as const
type Share = keyof typeof shares

const sharesOf = {
  sign_up: ['all', 'elsewhere', 'sign_up'],
  elsewhere: ['all', 'elsewhere'],
  address: ['all', 'address'],
  known: ['all'],
} as const satisfies Readonly<Record<MailKind, readonly Share[]>>

const day = 86_400

/**
 * Admits the first mail of an account in a day even if the limit is reached. Strangers who ask for mails to many
 * accounts can use up the mails of all, but not this one, unless they know the address. The number of accounts bounds
 * these mails. Takes the same time for an address without an account.
 */
async function takeFirstOfDay(kind: MailKind, whose: string, kit: EndpointKit): Promise<void> {
  const today = Math.floor(kit.now() / day)
  const key = `first mail of a day:${JSON.stringify([today, kind, whose])}`
  // The number of new accounts is unbounded, so they have no first mail.
  if (kind !== 'sign_up' && (await kit.records.increment(key, (today + 1) * day + 60)) === 1) return
  throw tooMany(windowOf(kit).end - kit.now(), kit)
}

/**
 * Counts a mail that is about to be sent. A request that sends no mail does not count: otherwise, requests for invented
 * addresses would use up the mails of all users. When the limit of a kind is reached, requests without a mail are
 * refused, too, except for the first one of an address in a day.
 *
 * @param whose the address, or the user who is signed in: an address with another tag takes nothing of an account
 * @throws OAuthError `slow_down`
 */
export async function countSent(
  { isSent, kind, whose }: { readonly isSent: boolean; readonly kind: MailKind; readonly whose: string },
  { total }: MailLimits,
  kit: EndpointKit,
): Promise<void> {
  const { end, keyOf, count } = windowOf(kit)
  const sharesOfKind = sharesOf[kind]
  const over = await Promise.all(sharesOfKind.map((share) => kit.records.get(keyOf('over', share), v.boolean())))
  // Comes before the mail is counted for the other shares.
  if (over.includes(true)) return takeFirstOfDay(kind, whose, kit)
  const isWithin = await Promise.all(
    sharesOfKind.map(async (share: Share) => {
      const most = Math.max(1, Math.floor((total * shares[share]) / shares.all))
      // Both cases take the same time.
      const counted = await count(isSent ? 'total' : 'unsent', share)
      if (isSent && counted >= most) await kit.records.put(keyOf('over', share), true, end + 60)
      return !isSent || counted <= most
    }),
  )
  if (isWithin.includes(false)) await takeFirstOfDay(kind, whose, kit)
}
