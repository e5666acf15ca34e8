import { addressGroupOf, type EndpointKit, type OAuthError } from '@grantry/core'

/** Seconds. */
const window = 3600

/** How many mails can be asked for in an hour. */
export interface MailLimits {
  /** To one address. */
  readonly perAddress: number
  /** From one network: an IPv4 address, or an IPv6 network of 64 bits. */
  readonly perNetwork: number
  readonly total: number
}

const tooMany = (retryAfter: number, { refuse }: EndpointKit): OAuthError =>
  refuse('slow_down', 'Too many mails were asked for', 'mail_limit', { status: 429, retryAfter })

/**
 * Counts a mail before it is asked for, whether or not an account has the address.
 *
 * @throws OAuthError `slow_down`
 */
export async function countMail(
  folded: string,
  clientAddress: string | undefined,
  limits: MailLimits,
  kit: EndpointKit,
): Promise<void> {
  const now = kit.now()
  const current = Math.floor(now / window)
  const end = (current + 1) * window
  const isOver = async (most: number, ...name: readonly string[]): Promise<boolean> =>
    (await kit.records.increment(`mails:${JSON.stringify([current, ...name])}`, end + 60)) > most
  // The network first: one that floods must not use up the mails of an address, or those of all.
  if (clientAddress !== undefined && (await isOver(limits.perNetwork, 'network', addressGroupOf(clientAddress)))) {
    throw tooMany(end - now, kit)
  }
  const over = await Promise.all([isOver(limits.perAddress, 'address', folded), isOver(limits.total, 'total')])
  if (over.includes(true)) throw tooMany(end - now, kit)
}
