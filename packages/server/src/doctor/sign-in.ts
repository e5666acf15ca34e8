import { missingTexts, type PagesOptions } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { isAddress } from '../local-address.ts'
import { clientsWithoutSignIn, hasNoUsers } from '../provider/startup-warnings.ts'
import type { Check, Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Checks whether the pages have texts in each of their languages. */
const checkTexts = ({ plugins = [] }: Facts['configuration']): readonly Finding[] =>
  plugins.flatMap((plugin, index) =>
    isNamedPlugin(plugin) && plugin.name === 'sign-in'
      ? missingTexts({ ...(plugin.pages as PagesOptions | undefined), languages }).map(({ path, locales }) =>
          finding(
            'text-missing',
            `plugins[${index}].pages.${path}`,
            `There is no text in ${locales.join(', ')}, so pages in it contain another language`,
          ),
        )
      : [],
  )

/** WebAuthn allows names only: browsers refuse every passkey of an address. */
const checkPasskeys = ({ issuer, plugins = [] }: Facts['configuration']): readonly Finding[] =>
  plugins.flatMap((plugin, index) =>
    isNamedPlugin(plugin) && plugin.name === 'sign-in' && plugin.passkeys === true && isAddress(issuer)
      ? [
          finding(
            'passkeys-at-address',
            `plugins[${index}].passkeys`,
            'The host of the issuer is an IP address, for which browsers refuse passkeys',
          ),
        ]
      : [],
  )

/** Only the page of the account lets users add passkeys and set up apps. */
const checkFactors = ({ plugins = [] }: Facts['configuration']): readonly Finding[] =>
  plugins.flatMap((plugin, index) => {
    if (!isNamedPlugin(plugin) || plugin.name !== 'sign-in' || plugin.account !== undefined) return []
    const { passkeys, secondFactors } = plugin
    const named = [...(passkeys === true ? ['passkeys'] : []), ...(secondFactors ? ['secondFactors'] : [])]
    const reason = 'There is no account page, so no user can set it up'
    return named.map((name) => finding('factors-without-page', `plugins[${index}].${name}`, reason))
  })

/** The password grant has no page that asks for a factor. */
const checkDemands = ({ clients }: Facts): readonly Finding[] =>
  clients.flatMap(({ clientId, requireSecondFactor, grantTypes }, index) =>
    requireSecondFactor === true && grantTypes.includes('password')
      ? [
          finding(
            'factor-not-askable',
            `clients[${index}].grantTypes`,
            `The password grant asks for no second factor, which ${clientId} requires`,
          ),
        ]
      : [],
  )

/** Checks whether users can sign in where clients expect it. */
export const checkSignIn: Check = (facts) => {
  const { configuration, metadata } = facts
  const { clients, plugins = [] } = configuration
  const unable = clientsWithoutSignIn(configuration, { metadata })
  const isSignIn = (plugin: string | object): boolean => isNamedPlugin(plugin) && plugin.name === 'sign-in'
  return [
    ...(Array.isArray(clients) ? clients : []).flatMap(({ clientId }, index) =>
      unable.includes(clientId)
        ? [
            finding(
              'sign-in-missing',
              `clients[${index}].grantTypes`,
              `No page signs users in, so ${clientId} cannot get a code`,
            ),
          ]
        : [],
    ),
    ...(hasNoUsers(configuration)
      ? [
          finding(
            'users-missing',
            `plugins[${plugins.findIndex(isSignIn)}]`,
            'There are no users, so no password is accepted',
          ),
        ]
      : []),
    ...checkPasskeys(configuration),
    ...checkFactors(configuration),
    ...checkDemands(facts),
    ...checkTexts(configuration),
  ]
}
