import { addressGroupOf, type EndpointKit, siteOf } from '@grantry/core'
import * as v from 'valibot'
import { type CountedCode, countCode } from './code-limits.ts'
import { isKnownPlace, type MailLimits, networksOfSite, windowOf } from './mail-limits.ts'

/** Seconds after which wrong codes of an address without an account are forgotten: strangers make up any number of them. */
const strangersSeries = 1_209_600

/**
 * The counters of an attempt, with the maximum number of wrong codes in an hour. The network comes first: a network
 * that floods must not use up the limit of its site.
 */
function countersOf(clientAddress: string | undefined, { perNetwork }: MailLimits) {
  if (clientAddress === undefined) return []
  const network = addressGroupOf(clientAddress)
  const site = siteOf(clientAddress)
  const ofNetwork = [`network ${network}`, perNetwork] as const
  return site === network ? [ofNetwork] : [ofNetwork, [`site ${site}`, networksOfSite * perNetwork] as const]
}

/**
 * Counts a mailed code before it is checked, by the address that the mail went to, whether or not it has an account. Wrong
 * ones of a network also count together. There is no count of all networks, which strangers would use up for every user: a
 * code is long enough (decision 162). In networks where the user has signed in or entered a right code, only those of the
 * user count.
 *
 * @param name of the address
 * @param sub the user who has the address. Without a user, takes the same time.
 * @throws OAuthError `slow_down` if a code is not allowed.
 */
export async function countMailedCode(
  { name, sub }: { readonly name: string; readonly sub: string | undefined },
  clientAddress: string | undefined,
  limits: MailLimits,
  kit: EndpointKit,
): Promise<CountedCode> {
  const { end, keyOf, count } = windowOf(kit)
  const counted: { readonly of: string; readonly right: number }[] = []
  const rightKey = (of: string): string => keyOf('right codes', of)
  const { succeed } = await countCode('mailed code', kit.sha256(name), {}, clientAddress, kit, {
    ...(sub === undefined && { lifetime: strangersSeries }),
    async elsewhere() {
      if (await isKnownPlace(sub, clientAddress, kit)) return
      for (const [of, most] of countersOf(clientAddress, limits)) {
        const [codes, right = 0] = await Promise.all([count('codes', of), kit.records.get(rightKey(of), v.number())])
        if (codes > most + right) {
          const more = { status: 429, retryAfter: end - kit.now() } as const
          throw kit.refuse('slow_down', 'There were too many codes', 'mailed_code_limit', more)
        }
        counted.push({ of, right })
      }
    },
  })
  return {
    async succeed() {
      // Of right codes at the same moment, one may be lost: the limit is then reached earlier.
      const put = counted.map(({ of, right }) => kit.records.put(rightKey(of), right + 1, end + 60))
      await Promise.all([succeed(), ...put])
    },
  }
}
