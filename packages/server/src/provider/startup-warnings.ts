// The rules about a configuration that warn at the start. grantry check runs them, too.
import type { Provider } from '@grantry/core'
import { type RuleOf, runRules } from '../check-rules/rule.ts'
import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { isAddress, localPort } from '../local-address.ts'

/** A setting that works but should change, with a stable reason code. */
export interface ServerWarning {
  readonly reason: string
  readonly message: string
}

interface StartFacts {
  readonly configuration: CheckedConfiguration
  readonly metadata: Provider['metadata']
}

interface StartRule {
  /** The reason of the event, with hyphens. */
  readonly id: string
  /** Returns one message for all matches of the rule. @param port the port that the server listens on */
  readonly warning: (facts: StartFacts, port: number) => string | false
}

/** Clients that cannot get a code without a sign-in, and the setting that lets them ask for one. */
export interface CodeClients {
  readonly name: string
  readonly where: string
}

/** Returns the configured clients that need an authorization endpoint. */
export const codeClients = ({ configuration: { clients } }: StartFacts): readonly CodeClients[] =>
  (Array.isArray(clients) ? clients : []).flatMap(({ clientId, enabled, grantTypes }, index) =>
    enabled !== false && grantTypes?.includes('authorization_code')
      ? [{ name: clientId, where: `clients[${index}].grantTypes` }]
      : [],
  )

/** Returns the plugins whose clients describe or register themselves, and need an authorization endpoint. */
export const describedClients = ({ configuration: { plugins = [] } }: StartFacts): readonly CodeClients[] =>
  plugins.flatMap((plugin, index) =>
    isNamedPlugin(plugin) &&
    (plugin.name === 'client-metadata' || plugin.name === 'registration') &&
    (plugin.grantTypes?.includes('authorization_code') ?? true)
      ? [{ name: `the clients of ${plugin.name}`, where: `plugins[${index}]` }]
      : [],
  )

export const hasSignIn = ({ metadata }: StartFacts): boolean => metadata.authorization_endpoint !== undefined

const withoutCode = (names: string): string => `No page signs users in, so ${names} cannot get a code`

export const signInMissing: StartRule & RuleOf<CodeClients> = {
  id: 'sign-in-missing',
  severity: 'warning',
  remedy: 'add { "name": "sign-in" } to plugins, or set authorizationEndpoint to the URL of your login page',
  source: 'RFC 6749 section 3.1; docs/guides/sign-in.md',
  check: ({ name, where }) => ({ where, reason: withoutCode(name) }),
  warning(facts) {
    const names = [...codeClients(facts), ...describedClients(facts)].map(({ name }) => name)
    return !hasSignIn(facts) && names.length > 0 && `${withoutCode(names.join(', '))}: ${signInMissing.remedy}`
  },
}

type SignIn = Extract<NamedPlugin, { readonly name: 'sign-in' }>

/** Returns where a sign-in is of which a predicate is true. */
const pathOf = ({ plugins = [] }: CheckedConfiguration, predicate: (plugin: SignIn) => boolean, member = '') => {
  const index = plugins.findIndex((entry) => isNamedPlugin(entry) && entry.name === 'sign-in' && predicate(entry))
  return index >= 0 && `plugins[${index}]${member}`
}

const isFound = (rule: RuleOf<StartFacts>, facts: StartFacts): boolean => runRules([rule], facts).length > 0

/** No user is configured, and none can be in the storage, but the pages of the server ask for passwords. */
export const usersMissing: StartRule & RuleOf<StartFacts> = {
  id: 'users-missing',
  severity: 'warning',
  remedy: 'add users, with passwords from grantry hash-password',
  source: 'docs/guides/sign-in.md',
  reason: 'There are no users, so no password is accepted',
  check: ({ configuration }) =>
    !configuration.administration &&
    Array.isArray(configuration.users) &&
    configuration.users.length === 0 &&
    pathOf(configuration, ({ passwords }) => passwords !== false),
  warning: (facts) =>
    isFound(usersMissing, facts) &&
    `The plugin sign-in has no users, so no password is accepted: ${usersMissing.remedy}`,
}

/** WebAuthn allows names only: browsers refuse every passkey of an address. */
export const passkeysAtAddress: StartRule & RuleOf<StartFacts> = {
  id: 'passkeys-at-address',
  severity: 'warning',
  remedy: 'use an issuer with a host name, such as http://localhost:8484, or remove passkeys',
  source: 'WebAuthn section 5.1.2; docs/guides/account.md',
  reason: 'The host of the issuer is an IP address, for which browsers refuse passkeys',
  check: ({ configuration }) =>
    isAddress(configuration.issuer) && pathOf(configuration, ({ passkeys }) => passkeys === true, '.passkeys'),
  warning: (facts) =>
    isFound(passkeysAtAddress, facts) &&
    `Browsers refuse passkeys of an IP address, so the pages do not offer them: ${passkeysAtAddress.remedy} from the plugin sign-in`,
}

/** Behind a proxy, clients connect to the port of the proxy. Only a start knows the port of the server. */
const issuerPortMismatch: StartRule = {
  id: 'issuer-port-mismatch',
  warning({ configuration: { issuer, trustedProxies } }, listening) {
    const port = localPort(issuer)
    return (
      trustedProxies === 0 &&
      port !== undefined &&
      port !== listening &&
      `The issuer names port ${port}, but the server listens on ${listening}: clients will connect to the wrong port. If a proxy listens on port ${port}, set trustedProxies`
    )
  },
}

/** Returns the warnings about the configuration of a server that listens on a port. */
export const startupWarnings = (
  configuration: CheckedConfiguration,
  { metadata }: Pick<Provider, 'metadata'>,
  port: number,
): readonly ServerWarning[] =>
  [issuerPortMismatch, signInMissing, passkeysAtAddress, usersMissing].flatMap(({ id, warning }) => {
    const message = warning({ configuration, metadata }, port)
    return message === false ? [] : [{ reason: id.replaceAll('-', '_'), message }]
  })
