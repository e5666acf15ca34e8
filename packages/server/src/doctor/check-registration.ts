import type { RulePart, RuleText } from '../check-rules/rule.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { type Named, unknownScopes } from './named.ts'
import { pluginMissing } from './unusable.ts'

type Registration = Named<'registration'>

/** Registrations in an hour, above which a flood fills a storage. */
const mostPerHour = 10_000

const pluginOfMethod: ReadonlyMap<string, string> = new Map([
  ['private_key_jwt', 'client-assertion'],
  ['tls_client_auth', 'mtls'],
])

/** Scopes with which a client is an administrator. */
const powerful: readonly string[] = ['admin', 'admin:read']

export const jwksUriPrivate: RuleText = {
  id: 'jwks-uri-private',
  severity: 'warning',
  remedy: 'remove allowPrivateAddresses, or set the keys of internal clients as jwks',
  source: 'RFC 9700 section 4.11; docs/guides/client-assertion.md',
}

/** The rules for clients that register themselves. */
export const registrationRules: readonly RulePart<Registration>[] = [
  {
    id: 'registration-scope-unknown',
    severity: 'warning',
    remedy: 'correct the name, or add the scope to scopes',
    source: 'docs/guides/registration.md',
    check: ({ plugin: { scopes }, path, facts }) =>
      unknownScopes(scopes, facts).map((name) => ({
        where: `${path}.scopes`,
        reason: `The scope ${name} is not declared, so no client gets it`,
      })),
  },
  {
    ...pluginMissing,
    check: ({ plugin: { grantTypes = [] }, path, facts: { metadata } }) =>
      grantTypes
        .filter((name) => ![metadata.grant_types_supported].flat().includes(name))
        .map((name) => ({ where: `${path}.grantTypes`, reason: `No plugin provides the grant type ${name}` })),
  },
  {
    id: 'registration-powerful',
    severity: 'error',
    remedy: 'remove the scope; an administrator registers the clients of the admin API',
    source: 'docs/guides/registration.md; docs/guides/admin-api.md',
    check: ({ plugin: { scopes }, path }) =>
      scopes
        .filter((name) => powerful.includes(name))
        .map((name) => ({
          where: `${path}.scopes`,
          reason: `A client that registers itself can ask an administrator for ${name}`,
        })),
  },
  {
    id: 'registration-limit-high',
    severity: 'warning',
    remedy: 'lower maxTotal, or issue initial access tokens',
    source: 'RFC 7591 section 5; docs/guides/registration.md',
    check({ plugin: { open, softwareStatements, maxTotal = 1000, window = 3600 }, path }) {
      const hourly = Math.round((maxTotal * 3600) / window)
      const reason = `${hourly} clients can be registered in an hour by callers who prove nothing`
      return (
        (open === true || softwareStatements !== undefined) &&
        hourly > mostPerHour && { where: `${path}.maxTotal`, reason }
      )
    },
  },
  {
    id: 'registration-remembered',
    severity: 'warning',
    remedy: 'set consent to "ask"',
    source: 'RFC 7591 section 5; docs/guides/registration.md',
    reason: 'Users are asked once about a client that anyone can register',
    check: ({ plugin: { open, consent }, path }) => open === true && consent === 'allow' && `${path}.consent`,
  },
  {
    id: 'registration-secret-lasting',
    severity: 'warning',
    remedy: 'set secretLifetime to the seconds after which a client has to get another secret, such as 7776000',
    source: 'RFC 7591 section 3.2.1; docs/guides/registration.md',
    reason: 'The secrets of registered clients never expire',
    check: ({ plugin: { secretLifetime }, path }) => secretLifetime === 0 && `${path}.secretLifetime`,
  },
  {
    ...pluginMissing,
    check: ({ plugin: { authenticationMethods = [] }, path, facts: { configuration } }) =>
      authenticationMethods.flatMap((method) => {
        const needed = pluginOfMethod.get(method)
        const isAbsent = configuration.plugins?.every((entry) => isNamedPlugin(entry) && entry.name !== needed)
        if (needed === undefined || !isAbsent) return []
        return [{ where: `${path}.authenticationMethods`, reason: `${method} needs the plugin ${needed}` }]
      }),
  },
  {
    ...jwksUriPrivate,
    reason: 'The jwks_uri of a client makes this server send requests to addresses of its own network',
    check: ({ plugin: { allowPrivateAddresses, softwareStatements }, path }) =>
      (allowPrivateAddresses || softwareStatements?.jwksUri?.allowPrivateAddresses) === true &&
      `${path}.allowPrivateAddresses`,
  },
]
