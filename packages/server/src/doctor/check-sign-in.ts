import { missingTexts, type PagesOptions } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { each, type RulePart } from '../check-rules/rule.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import {
  type CodeClients,
  codeClients,
  describedClients,
  hasSignIn,
  passkeysAtAddress,
  signInMissing,
  usersMissing,
} from '../provider/startup-warnings.ts'
import { allClients, type Facts } from './facts.ts'
import { namedPlugins, whenNamed } from './named.ts'

/** The rules for whether users can sign in where clients expect it. */
export const signInRules: readonly RulePart<Facts>[] = [
  each((facts: Facts) => (hasSignIn(facts) ? [] : codeClients(facts)), [signInMissing]),
  usersMissing,
  passkeysAtAddress,
  each(namedPlugins, [
    whenNamed('sign-in', [
      // Only the page of the account lets users add passkeys and set up apps.
      {
        id: 'factors-without-page',
        severity: 'warning',
        remedy: 'add "account": {} to the entry, or remove the setting',
        source: 'docs/guides/account.md',
        check: ({ plugin: { account, passkeys, secondFactors }, path }) =>
          Object.entries({ passkeys: passkeys === true, secondFactors }).flatMap(([name, isOn]) =>
            isOn && account === undefined
              ? [{ where: `${path}.${name}`, reason: 'There is no account page, so no user can set it up' }]
              : [],
          ),
      },
    ]),
  ]),
  // The password grant has no page that asks for a factor.
  {
    id: 'factor-not-askable',
    severity: 'warning',
    remedy: 'remove the grant type from the client: its tokens are refused',
    source: 'RFC 9700 section 2.4; docs/guides/account.md',
    check: (facts) =>
      allClients(facts).flatMap(({ client: { requireSecondFactor, grantTypes }, path, name }) => {
        const reason = `The password grant asks for no second factor, which ${name} requires`
        const isAsked = requireSecondFactor === true && grantTypes.includes('password')
        return isAsked ? [{ where: `${path}.grantTypes`, reason }] : []
      }),
  },
  each(namedPlugins, [
    whenNamed('sign-in', [
      {
        id: 'text-missing',
        severity: 'info',
        remedy: 'add the texts, or set locales to the languages that you have',
        source: 'docs/guides/sign-in.md',
        check: ({ plugin, path: of }) =>
          missingTexts({ ...(plugin.pages as PagesOptions | undefined), languages }).map(({ path, locales }) => ({
            where: `${of}.pages.${path}`,
            reason: `There is no text in ${locales.join(', ')}, so pages in it contain another language`,
          })),
      },
    ]),
  ]),
]

/** Whether MCP clients have several APIs to choose from, but no plugin reads which one they name. */
function isResourceUnread({ configuration: { plugins = [] }, scopes }: Facts): boolean {
  const audiences = new Set(scopes.flatMap(({ identity, audience }) => (identity ? [] : (audience ?? []))))
  // A module can contain any plugin.
  const isRead = plugins.some((plugin) => !isNamedPlugin(plugin) || plugin.name === 'resource-indicators')
  return !isRead && audiences.size > 1
}

/** The rules for clients that describe or register themselves, as MCP clients do. */
export const describedRules: readonly RulePart<Facts>[] = [
  each(
    (facts: Facts) => describedClients(facts).map((clients) => ({ ...clients, facts })),
    [
      each(
        (clients: CodeClients & { readonly facts: Facts }) => (hasSignIn(clients.facts) ? [] : [clients]),
        [signInMissing],
      ),
      {
        id: 'resource-unread',
        severity: 'warning',
        remedy: 'add { "name": "resource-indicators" } to plugins',
        source: 'RFC 8707 section 2; docs/guides/resource-indicators.md',
        reason:
          'MCP clients name the API that a token is for, but no plugin reads that name: each token is for all APIs',
        check: ({ where, facts }) => isResourceUnread(facts) && where,
      },
    ],
  ),
]
