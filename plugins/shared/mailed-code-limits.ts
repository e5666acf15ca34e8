import { addressGroupOf, type EndpointKit, siteOf } from '@grantry/core'
import * as v from 'valibot'
import { type CountedCode, countCode } from './code-limits.ts'
import { type MailLimits, networksOfSite, windowOf } from './mail-limits.ts'

/**
 * Wrong codes of all strangers in an hour: one for so many mails. With the usual limits, a year of them finds the codes of
 * two addresses, of any users.
 */
const mailsForWrongCode = 20

/** Seconds after which wrong codes of an address without an account are forgotten: strangers make up any number of them. */
const strangersSeries = 1_209_600

/** The counters of a wrong code, with the most in an hour. */
function countersOf(clientAddress: string | undefined, { perNetwork, total }: MailLimits) {
  const all: [name: string, most: number][] = [['all', Math.max(10, Math.floor(total / mailsForWrongCode))]]
  if (clientAddress === undefined) return all
  const [network, site] = [addressGroupOf(clientAddress), siteOf(clientAddress)]
  if (site !== network) all.push([`site ${site}`, networksOfSite * perNetwork])
  return [...all, [`network ${network}`, perNetwork] as const]
}

/**
 * Counts a mailed code before it is checked, by the address that the mail went to, whether or not it has an account. Wrong
 * ones of a network, and those of all strangers, also count together: with a mail to each of many addresses, one would be
 * right at some time. At addresses where the user has entered a right code, only those of the user count.
 *
 * @param name of the address
 * @throws OAuthError `slow_down` if a code is not allowed.
 */
export async function countMailedCode(
  { name, isStranger = false }: { readonly name: string; readonly isStranger?: boolean | undefined },
  clientAddress: string | undefined,
  limits: MailLimits,
  kit: EndpointKit,
): Promise<CountedCode & { fail(): Promise<void> }> {
  const { end, keyOf, count } = windowOf(kit)
  const counters = countersOf(clientAddress, limits)
  let isKnown = true
  const counted = await countCode('mailed code', kit.sha256(name), {}, clientAddress, kit, {
    ...(isStranger && { lifetime: strangersSeries }),
    async elsewhere() {
      isKnown = false
      const over = await Promise.all(counters.map(([of]) => kit.records.get(keyOf('wrong over', of), v.boolean())))
      if (!over.includes(true)) return
      const more = { status: 429, retryAfter: end - kit.now() } as const
      throw kit.refuse('slow_down', 'There were too many codes', 'mailed_code_limit', more)
    },
  })
  return {
    ...counted,
    async fail() {
      if (isKnown) return
      await Promise.all(
        counters.map(async ([of, most]) => {
          if ((await count('wrong', of)) >= most) await kit.records.put(keyOf('wrong over', of), true, end + 60)
        }),
      )
    },
  }
}
