import { missingTexts, type PagesOptions } from '@grantry/pages'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { isAddress } from '../local-address.ts'
import { clientsWithoutSignIn, hasNoUsers } from '../startup-warnings.ts'
import type { Check, Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Checks whether the pages have texts in each of their languages. */
const checkTexts = ({ plugins = [] }: Facts['configuration']): readonly Finding[] =>
  plugins.flatMap((plugin, index) =>
    isNamedPlugin(plugin) && plugin.name === 'sign-in'
      ? missingTexts((plugin.pages ?? {}) as PagesOptions).map(({ path, locales }) =>
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

/** Checks whether users can sign in where clients expect it. */
export const checkSignIn: Check = ({ configuration, metadata }) => {
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
    ...checkTexts(configuration),
  ]
}
