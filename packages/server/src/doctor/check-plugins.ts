import type { Client } from '@grantry/core'
import { each, type RulePart } from '../check-rules/rule.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { localPort } from '../local-address.ts'
import { idJagRules } from './check-id-jag.ts'
import { organizationRules } from './check-organizations.ts'
import { jwksUriPrivate, registrationRules } from './check-registration.ts'
import { upstreamRules } from './check-upstream.ts'
import { workloadRules } from './check-workloads.ts'
import type { Facts } from './facts.ts'
import { type Named, namedPlugins, unknownScopes, whenNamed } from './named.ts'

/** Seconds by which the clock of a client may be ahead, in FAPI 2.0. */
const usualTolerance = 10

/** Whether all keys are in a key management service, which signs but does not seal. */
const areExternal = (keys: CheckedConfiguration['keys']): boolean =>
  Array.isArray(keys) && keys.every((key: { readonly d?: unknown } | null) => key?.d === undefined)

const dpopRules: readonly RulePart<Named<'dpop'>>[] = [
  {
    id: 'dpop-clock-strict',
    severity: 'warning',
    remedy: 'remove clockTolerance, or set it to 10 or more',
    source: 'FAPI 2.0 Security Profile section 5.3.2.1; docs/guides/dpop.md',
    check: ({ plugin: { nonce, clockTolerance = usualTolerance }, path }) =>
      nonce !== true &&
      clockTolerance < usualTolerance && {
        where: `${path}.clockTolerance`,
        reason: `The proofs of a client whose clock is more than ${clockTolerance} s ahead are refused`,
      },
  },
  {
    id: 'dpop-nonce-unsealed',
    severity: 'error',
    remedy: 'add a private JWK after the external keys, or set nonce to false',
    source: 'docs/guides/dpop.md',
    reason: 'Nonces are sealed with a private key, but all keys are external: each proof gets a server error',
    check: ({ plugin: { nonce }, path, facts: { configuration } }) =>
      nonce === true && areExternal(configuration.keys) && `${path}.nonce`,
  },
]

const documentRules: readonly RulePart<Named<'client-metadata'>>[] = [
  {
    id: 'document-scope-unknown',
    severity: 'warning',
    remedy: 'correct the name, or add the scope to scopes',
    source: 'docs/guides/client-metadata.md',
    check: ({ plugin: { scopes }, path, facts }) =>
      unknownScopes(scopes, facts).map((name) => ({
        where: `${path}.scopes`,
        reason: `The scope ${name} is not declared, so no client gets it`,
      })),
  },
  {
    id: 'documents-of-any-host',
    severity: 'warning',
    remedy: 'set otherHosts to "ask" or "refuse", and allow the hosts of the clients that you know',
    source: 'draft-ietf-oauth-client-id-metadata-document section 6; docs/guides/client-metadata.md',
    reason: 'Clients of any host describe themselves, and users are asked about each of them only once',
    check: ({ plugin: { otherHosts, hosts = [] }, path }) =>
      (otherHosts === 'allow' || hosts.some(({ host, policy }) => policy === 'allow' && /^\*\.[^.]+$/u.test(host))) &&
      `${path}.otherHosts`,
  },
  {
    id: 'document-url-private',
    severity: 'error',
    remedy: 'remove allowPrivateAddresses',
    source: 'RFC 9700 section 4.11; docs/guides/client-metadata.md',
    reason: 'The id of a client is a URL, which can make this server send requests to addresses of its own network',
    check: ({ plugin: { allowPrivateAddresses }, path }) =>
      allowPrivateAddresses === true && `${path}.allowPrivateAddresses`,
  },
]

const fapi2Algorithms: readonly (string | undefined)[] = ['PS256', 'ES256', 'EdDSA']

// A token exchange can return a JWT to a client with reference tokens.
const getsJwt = ({ accessTokenFormat, grantTypes }: Client): boolean =>
  accessTokenFormat === 'jwt' || grantTypes.includes('urn:ietf:params:oauth:grant-type:token-exchange')

const affectedBy = ({ plugin: { clients: applies = 'marked' }, facts: { clients } }: Named<'fapi2'>) =>
  clients.filter(({ profile }) => applies === 'all' || profile === 'fapi2')

// The plugin itself checks the clients.
const fapi2Rules: readonly RulePart<Named<'fapi2'>>[] = [
  {
    id: 'fapi-signing-algorithm',
    severity: 'warning',
    remedy: 'make a key for PS256, ES256 or EdDSA the first one, or use reference tokens',
    source: 'FAPI 2.0 Security Profile section 5.4.1; docs/guides/fapi2.md',
    check(fapi2) {
      const { hasExternalClients, signingAlgorithms } = fapi2.facts
      const [first] = signingAlgorithms
      const reason = `Access tokens are signed with ${first}, which the profile does not allow`
      const isUsed = hasExternalClients || affectedBy(fapi2).some(getsJwt)
      return isUsed && !fapi2Algorithms.includes(first) && { where: 'keys', reason }
    },
  },
  {
    id: 'fapi-unused',
    severity: 'warning',
    remedy: 'set profile of the clients to "fapi2", or clients of the plugin to "all"',
    source: 'docs/guides/fapi2.md',
    reason: 'No client has the profile, so nothing is checked',
    check: (fapi2) => !fapi2.facts.hasExternalClients && affectedBy(fapi2).length === 0 && fapi2.path,
  },
]

const usesPasswordGrant = ({ enabled, grantTypes }: Client): boolean => enabled && grantTypes.includes('password')

/** The rules for the plugins that the configuration names, with their options, and what plugins warn about. */
export const pluginRules: readonly RulePart<Facts>[] = [
  {
    id: 'second-factor-skipped',
    severity: 'warning',
    remedy:
      'remove password from the grantTypes of clients, or let users.authenticate refuse users with a second factor there',
    source: 'RFC 9700 section 2.4; docs/guides/second-factor.md',
    check: ({ warnings, hasExternalClients, clients, storedClients }) =>
      warnings
        .filter(({ reason }) => reason === 'plugin:authorization-endpoint:password_without_second_factor')
        // The server always has the grant, so the finding depends on a client that can use it.
        .filter(() => hasExternalClients || [...clients, ...storedClients].some(usesPasswordGrant))
        .map(({ message }) => ({ where: 'plugins', reason: message })),
  },
  {
    id: 'upstream-unreachable',
    severity: 'warning',
    remedy: 'correct the issuer, or ask the provider; until then, its users cannot sign in',
    source: 'OpenID Connect Discovery section 4',
    check: ({ unreachable }) => unreachable,
  },
  each(namedPlugins, [
    whenNamed('dpop', dpopRules),
    whenNamed('device-authorization', [
      {
        id: 'verification-uri-without-tls',
        severity: 'error',
        remedy: 'use an https URI',
        source: 'RFC 8628 section 5.4; OAuth 2.1 section 1.5',
        check: ({ plugin: { verificationUri: uri }, path }) =>
          uri !== undefined &&
          !uri.startsWith('https:') &&
          localPort(uri) === undefined && {
            where: `${path}.verificationUri`,
            reason: `${uri} is not https: an attacker on the network can show a page that asks for the password`,
          },
      },
    ]),
    whenNamed('sign-in', [
      {
        id: 'logout-uri-private',
        severity: 'warning',
        remedy: 'remove allowPrivateAddresses',
        source: 'docs/guides/logout.md',
        reason: 'The backchannelLogoutUri of a client makes this server send requests to addresses of its own network',
        check: ({ plugin: { backChannelLogout }, path }) =>
          backChannelLogout?.allowPrivateAddresses === true && `${path}.backChannelLogout.allowPrivateAddresses`,
      },
      ...upstreamRules,
      ...organizationRules,
    ]),
    whenNamed('id-jag', idJagRules),
    whenNamed('client-metadata', documentRules),
    whenNamed('workload-identity', workloadRules),
    whenNamed('registration', registrationRules),
    whenNamed('client-assertion', [
      {
        ...jwksUriPrivate,
        reason: 'The jwksUri of a client makes this server send requests to addresses of its own network',
        check: ({ plugin: { jwksUri }, path }) =>
          jwksUri?.allowPrivateAddresses === true && `${path}.jwksUri.allowPrivateAddresses`,
      },
    ]),
    whenNamed('fapi2', fapi2Rules),
    whenNamed('resource-indicators', [
      {
        id: 'resource-unknown',
        severity: 'warning',
        remedy: 'set audience of the scopes of your APIs to the resources that clients name',
        source: 'RFC 8707 section 2; docs/guides/resource-indicators.md',
        reason: 'No scope has an audience, so every resource that a client names is refused',
        check: ({ path: where, facts: { scopes } }) =>
          !scopes.some(({ identity, audience }) => !identity && audience !== undefined) && where,
      },
    ]),
  ]),
]
