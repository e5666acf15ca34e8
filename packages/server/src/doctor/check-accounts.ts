import { each, type RulePart } from '../check-rules/rule.ts'
import { localPort } from '../local-address.ts'
import type { Facts } from './facts.ts'
import { type Named, namedPlugins, whenNamed } from './named.ts'

type SignIn = Named<'sign-in'>
type Accounts = NonNullable<SignIn['plugin']['accounts']>

/** Mails in an hour, above which a stranger fills a mailbox, or many from one network. */
const mostPerAddress = 100
const mostPerNetwork = 1000

/** Whether the operator has set no limit. */
const isDefault = ({ perAddress, perNetwork, total }: NonNullable<Accounts['limits']> = {}): boolean =>
  (perAddress ?? 5) === 5 && (perNetwork ?? 50) === 50 && (total ?? 5000) === 5000

/** The last two labels of a name: a good guess at what one operator has. */
const ownerOf = (name: string): string => name.toLowerCase().split('.').slice(-2).join('.')

const accountsOf = ({ plugin: { accounts }, path, facts }: SignIn) =>
  accounts === undefined ? [] : [{ ...accounts, path: `${path}.accounts`, facts }]

/** The rules for the accounts that users manage, and their mails. */
export const accountRules: readonly RulePart<Facts>[] = [
  each(namedPlugins, [
    whenNamed('sign-in', [
      each(accountsOf, [
        {
          id: 'sign-up-open',
          severity: 'info',
          remedy: 'set limits of accounts to what you expect, or signUp to "invitation"',
          source: 'docs/guides/self-service.md',
          reason: 'Every visitor can create accounts, and only the default limits of mails bound their number',
          check: ({ signUp, limits, path }) => signUp === 'open' && isDefault(limits) && `${path}.signUp`,
        },
        {
          id: 'sign-up-default-scope',
          severity: 'warning',
          remedy: 'remove default from the scope, or set signUp to "invitation" or "closed"',
          source: 'RFC 9700 section 2.3; docs/guides/self-service.md',
          check: ({ signUp, facts: { scopes } }) =>
            scopes.flatMap(({ name, default: isGiven, identity }, index) => {
              const reason = `Every visitor who creates an account gets ${name} at clients that ask for no scope`
              return signUp === 'open' && isGiven && !identity ? [{ where: `scopes[${index}].default`, reason }] : []
            }),
        },
        {
          id: 'mail-limit-high',
          severity: 'warning',
          remedy: 'lower the limit: with this one, a stranger can fill mailboxes in your name',
          source: 'docs/guides/self-service.md',
          check({ limits: { perAddress = 0, perNetwork = 0 } = {}, path }) {
            const many = (most: number): string => `${most} mails an hour can be requested`
            const ofAddress = { where: `${path}.limits.perAddress`, reason: `${many(perAddress)} to one address` }
            const ofNetwork = { where: `${path}.limits.perNetwork`, reason: `${many(perNetwork)} from one network` }
            return [
              ...(perAddress > mostPerAddress ? [ofAddress] : []),
              ...(perNetwork > mostPerNetwork ? [ofNetwork] : []),
            ]
          },
        },
        {
          id: 'mail-outbox',
          severity: 'info',
          remedy: 'set mail.url and mail.from before users on other machines get mails',
          source: 'docs/guides/self-service.md',
          reason: 'Mails are not sent: this machine shows the last 50 at /outbox',
          check: ({ path: where, facts }) => facts.configuration.mail === undefined && where,
        },
      ]),
    ]),
  ]),
  // Mails from a domain that the operator may not use are taken for forged ones.
  {
    id: 'mail-sender-domain',
    severity: 'warning',
    remedy: 'use an address in the domain of the issuer, and allow the mail server there (SPF, DKIM, DMARC)',
    source: 'RFC 7208; RFC 7489 section 3.1',
    check({ configuration: { mail, issuer } }) {
      if (mail === undefined) return false
      const { hostname } = new URL(issuer)
      const domain = /@([^@>]+)>?$/u.exec(mail.from)?.[1] ?? ''
      const reason = `Mails are sent from ${domain}, but their links lead to ${hostname}: filters can treat them as forged`
      return localPort(issuer) === undefined && ownerOf(domain) !== ownerOf(hostname) && { where: 'mail.from', reason }
    },
  },
  {
    id: 'mail-unusable',
    severity: 'warning',
    remedy: 'correct mail, or the mail server: users wait for mails that never arrive, and the pages cannot show this',
    source: 'docs/guides/self-service.md',
    check: ({ mailProblem: reason }) => reason !== undefined && { where: 'mail', reason },
  },
]
