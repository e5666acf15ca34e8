import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import { localPort } from '../local-address.ts'
import type { Check, Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type SignInPlugin = Extract<NamedPlugin, { readonly name: 'sign-in' }>
type Accounts = NonNullable<SignInPlugin['accounts']>

/** Mails in an hour, above which a stranger fills a mailbox, or many from one network. */
const mostPerAddress = 100
const mostPerNetwork = 1000

/** Whether the operator has set no limit. */
const isDefault = ({ perAddress, perNetwork, total }: NonNullable<Accounts['limits']> = {}): boolean =>
  (perAddress ?? 5) === 5 && (perNetwork ?? 50) === 50 && (total ?? 5000) === 5000

/** The last two labels of a name: a good guess at what one operator has. */
const ownerOf = (name: string): string => name.toLowerCase().split('.').slice(-2).join('.')

function checkSignUp({ signUp, limits }: Accounts, path: string, { scopes }: Facts): readonly Finding[] {
  if (signUp !== 'open') return []
  const given = scopes.flatMap(({ name, default: isGiven, identity }, index) =>
    isGiven && !identity
      ? [
          finding(
            'sign-up-default-scope',
            `scopes[${index}].default`,
            `Every visitor who creates an account gets ${name} at clients that ask for no scope`,
          ),
        ]
      : [],
  )
  const reason = 'Every visitor can create accounts, as many as the default limits of mails allow'
  return [...(isDefault(limits) ? [finding('sign-up-open', `${path}.signUp`, reason)] : []), ...given]
}

function checkLimits({ limits = {} }: Accounts, path: string): readonly Finding[] {
  const { perAddress = 0, perNetwork = 0 } = limits
  const many = (most: number): string => `${most} mails can be asked for in an hour`
  return [
    ...(perAddress > mostPerAddress
      ? [finding('mail-limit-high', `${path}.limits.perAddress`, `${many(perAddress)} to one address`)]
      : []),
    ...(perNetwork > mostPerNetwork
      ? [finding('mail-limit-high', `${path}.limits.perNetwork`, `${many(perNetwork)} from one network`)]
      : []),
  ]
}

/** Mails from a domain that the operator may not use are taken for forged ones. */
function checkSender({ mail, issuer }: Facts['configuration']): readonly Finding[] {
  if (mail === undefined) return []
  const { hostname } = new URL(issuer)
  const domain = /@([^@>]+)>?$/u.exec(mail.from)?.[1] ?? ''
  if (localPort(issuer) !== undefined || ownerOf(domain) === ownerOf(hostname)) return []
  const reason = `Mails are sent from ${domain}, and lead to ${hostname}: filters take that for a forgery`
  return [finding('mail-sender-domain', 'mail.from', reason)]
}

/** Checks the accounts that users manage, and their mails. */
export const checkAccounts: Check = (facts) => {
  const { plugins = [], mail } = facts.configuration
  const found = plugins.flatMap((plugin, index) => {
    if (!isNamedPlugin(plugin) || plugin.name !== 'sign-in' || plugin.accounts === undefined) return []
    const path = `plugins[${index}].accounts`
    const outbox = 'Mails are not sent: this machine shows the last 50 at /outbox'
    return [
      ...checkSignUp(plugin.accounts, path, facts),
      ...checkLimits(plugin.accounts, path),
      ...(mail === undefined ? [finding('mail-outbox', path, outbox)] : []),
    ]
  })
  const { mailProblem } = facts
  return [
    ...found,
    ...checkSender(facts.configuration),
    ...(mailProblem === undefined ? [] : [finding('mail-unusable', 'mail', mailProblem)]),
  ]
}
