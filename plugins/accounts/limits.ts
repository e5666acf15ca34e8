import { addressGroupOf, type EndpointKit, type OAuthError, siteOf } from '@grantry/core'
import * as v from 'valibot'

/** Seconds. */
const window = 3600

/** How many mails can be asked for in an hour. */
export interface MailLimits {
  /** To one address. */
  readonly perAddress: number
  /** From one network: an IPv4 address, or an IPv6 network of 64 bits. */
  readonly perNetwork: number
  /** Of those that are sent. */
  readonly total: number
}

const tooMany = (retryAfter: number, { refuse }: EndpointKit): OAuthError =>
  refuse('slow_down', 'Too many mails were asked for', 'mail_limit', { status: 429, retryAfter })

/** An IPv6 site has 65,536 networks. It gets the mails of this many. */
const networksOfSite = 4

/** Returns the current window, and the counters in it. */
function windowOf({ records, now }: EndpointKit) {
  const current = Math.floor(now() / window)
  const end = (current + 1) * window
  const keyOf = (...name: readonly string[]): string => `mails:${JSON.stringify([current, ...name])}`
  const count = (...name: readonly string[]): Promise<number> => records.increment(keyOf(...name), end + 60)
  return { end, keyOf, count }
}

/**
 * Counts a mail before it is asked for, whether or not an account has the address.
 *
 * @param mailbox see `mailboxOf()`
 * @throws OAuthError `slow_down`
 */
export async function countMail(
  mailbox: string,
  clientAddress: string | undefined,
  { perAddress, perNetwork }: MailLimits,
  kit: EndpointKit,
): Promise<void> {
  const { end, count } = windowOf(kit)
  const assertNotOver = async (most: number, ...name: readonly string[]): Promise<void> => {
    if ((await count(...name)) > most) throw tooMany(end - kit.now(), kit)
  }
  // The network first: one that floods must not use up the mails of an address.
  if (clientAddress !== undefined) {
    const network = addressGroupOf(clientAddress)
    const site = siteOf(clientAddress)
    await assertNotOver(perNetwork, 'network', network)
    if (site !== network) await assertNotOver(networksOfSite * perNetwork, 'site', site)
  }
  await assertNotOver(perAddress, 'address', mailbox)
}

/**
 * Counts a mail that is about to be sent. Only these count together: otherwise, requests for made-up addresses would use
 * up the mails of all users. When there are too many, also a request without a mail is refused.
 *
 * @throws OAuthError `slow_down`
 */
export async function countSent(isSent: boolean, { total }: MailLimits, kit: EndpointKit): Promise<void> {
  const { end, keyOf, count } = windowOf(kit)
  const isOver = (await kit.records.get(keyOf('over'), v.boolean())) === true
  // The same work for both.
  const counted = await count(isSent ? 'total' : 'unsent')
  if (isSent && counted >= total && !isOver) await kit.records.put(keyOf('over'), true, end + 60)
  if (isOver || (isSent && counted > total)) throw tooMany(end - kit.now(), kit)
}
