import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

export const keycloakSchema = configurationObject({
  ...presetEntries('keycloak', 'Keycloak'),
  /** The URL of Keycloak, with its path if it has one, such as `https://login.example.com/auth`. */
  url: text,
  realm: text,
})

export type KeycloakOptions = OptionsOf<typeof keycloakSchema>

/**
 * Users sign in with a realm of Keycloak.
 *
 * @throws TypeError when an option is malformed.
 */
export function keycloak(options: KeycloakOptions): UpstreamProvider {
  const { url, realm, ...common } = parseConfiguration(keycloakSchema, options, 'keycloak()')
  return { ...common, issuer: `${url.replace(/\/$/u, '')}/realms/${encodeURIComponent(realm)}` }
}
