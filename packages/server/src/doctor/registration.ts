import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type RegistrationEntry = Extract<NamedPlugin, { readonly name: 'registration' }>

/** Registrations in an hour, above which a flood fills a storage. */
const mostPerHour = 10_000

const pluginOfMethod: ReadonlyMap<string, string> = new Map([
  ['private_key_jwt', 'client-assertion'],
  ['tls_client_auth', 'mtls'],
])

/** Scopes with which a client is an administrator. */
const powerful: readonly string[] = ['admin', 'admin:read']

function checkNames({ scopes, grantTypes = [] }: RegistrationEntry, path: string, facts: Facts) {
  const { metadata, configuration } = facts
  const { scopes_supported: known, grant_types_supported: supported } = metadata
  const isMissing = (list: unknown, name: string): boolean => Array.isArray(list) && !list.includes(name)
  const unknown = scopes.filter((name) => !configuration.administration && isMissing(known, name))
  return [
    ...unknown.map((name) =>
      finding(
        'registration-scope-unknown',
        `${path}.scopes`,
        `The scope ${name} is not declared, so no client gets it`,
      ),
    ),
    ...grantTypes
      .filter((name) => isMissing(supported, name))
      .map((name) => finding('plugin-missing', `${path}.grantTypes`, `No plugin provides the grant type ${name}`)),
    ...scopes
      .filter((name) => powerful.includes(name))
      .map((name) =>
        finding(
          'registration-powerful',
          `${path}.scopes`,
          `A client that registers itself can ask an administrator for ${name}`,
        ),
      ),
  ]
}

/** Checks the clients that register themselves. */
export function checkRegistration(plugin: RegistrationEntry, path: string, facts: Facts): readonly Finding[] {
  const { open = false, maxTotal = 1000, window = 3600, consent, secretLifetime, authenticationMethods = [] } = plugin
  const hourly = Math.round((maxTotal * 3600) / window)
  const { plugins = [] } = facts.configuration
  const isMissing = (name: string) => plugins.every((other) => isNamedPlugin(other) && other.name !== name)
  const many = `${hourly} clients can be registered in an hour by callers who prove nothing`
  const internal = 'The jwks_uri of a client makes this server send requests to addresses of its own network'
  return [
    ...checkNames(plugin, path, facts),
    ...((open || plugin.softwareStatements) && hourly > mostPerHour
      ? [finding('registration-limit-high', `${path}.maxTotal`, many)]
      : []),
    ...(open && consent === 'allow'
      ? [
          finding(
            'registration-remembered',
            `${path}.consent`,
            'Users are asked once about a client that anyone can register',
          ),
        ]
      : []),
    ...(secretLifetime === 0
      ? [
          finding(
            'registration-secret-lasting',
            `${path}.secretLifetime`,
            'The secrets of registered clients never end',
          ),
        ]
      : []),
    ...authenticationMethods.flatMap((method) => {
      const needed = pluginOfMethod.get(method)
      if (needed === undefined || !isMissing(needed)) return []
      return [finding('plugin-missing', `${path}.authenticationMethods`, `${method} needs the plugin ${needed}`)]
    }),
    ...(plugin.allowPrivateAddresses || plugin.softwareStatements?.jwksUri?.allowPrivateAddresses
      ? [finding('jwks-uri-private', `${path}.allowPrivateAddresses`, internal)]
      : []),
  ]
}
