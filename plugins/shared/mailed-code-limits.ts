import { addressGroupOf, type EndpointKit, siteOf } from '@grantry/core'
import * as v from 'valibot'
import { type CountedCode, countCode } from './code-limits.ts'
import { isKnownPlace, type MailLimits, networksOfSite, windowOf } from './mail-limits.ts'

/**
 * Wrong codes of all strangers in an hour: one for so many mails. With the usual limits, a year of them finds the codes of
 * two addresses, of any users.
 */
const mailsForWrongCode = 20

/** Seconds after which wrong codes of an address without an account are forgotten: strangers make up any number of them. */
const strangersSeries = 1_209_600

/** What a code proves: the address of an account, that of a new one, or another one of a user who is signed in. */
export type CodeKind = 'account' | 'sign_up' | 'address'

/** The shares of all wrong codes, in tenths. Those of new accounts, which cost nothing, use up none of the others. */
const shares = { account: 6, sign_up: 3, address: 1 } as const satisfies Readonly<Record<CodeKind, number>>

/** What is counted together, with the most wrong codes in an hour. The network first: one that floods must not count for all. */
function countersOf(kind: CodeKind, clientAddress: string | undefined, { perNetwork, total }: MailLimits) {
  const most = Math.max(10, Math.floor((total / mailsForWrongCode) * (shares[kind] / 10)))
  const all = [[`all ${kind}`, most]] as const
  if (clientAddress === undefined) return all
  const network = addressGroupOf(clientAddress)
  const site = siteOf(clientAddress)
  const ofNetwork = [`network ${network}`, perNetwork] as const
  return site === network
    ? [ofNetwork, ...all]
    : [ofNetwork, [`site ${site}`, networksOfSite * perNetwork] as const, ...all]
}

/**
 * Counts a mailed code before it is checked, by the address that the mail went to, whether or not it has an account. Wrong
 * ones of a network, and those of all strangers, also count together: with a mail to each of many addresses, one would be
 * right at some time. In networks where the user has signed in or entered a right code, only those of the user count.
 *
 * @param name of the address
 * @param sub the user who has it. Without one, the same work.
 * @throws OAuthError `slow_down` if a code is not allowed.
 */
export async function countMailedCode(
  { name, kind, sub }: { readonly name: string; readonly kind: CodeKind; readonly sub: string | undefined },
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
      for (const [of, most] of countersOf(kind, clientAddress, limits)) {
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
