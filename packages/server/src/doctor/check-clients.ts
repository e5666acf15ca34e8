import { clientGaps } from '@grantry/administration'
import { type ClientWithSecrets, coreRules, isLocalhostUrl } from '@grantry/core'
import { each, type RulePart, type RuleText } from '../check-rules/rule.ts'
import { allClients, type ConfiguredClient, type Facts } from './facts.ts'

/** A client that is enabled. */
type Configured = ClientWithSecrets & Omit<ConfiguredClient, 'client'>

const enabledIn = (facts: Facts): readonly Configured[] =>
  allClients(facts).flatMap(({ client, ...more }) => (client.enabled ? [{ ...client, ...more }] : []))

const redirectsOf = ({ path, redirectUris, postLogoutRedirectUris }: Configured) =>
  Object.entries({ redirectUris, postLogoutRedirectUris }).flatMap(([list, uris]) =>
    uris.map((uri, index) => ({ uri, list, where: `${path}.${list}[${index}]` })),
  )

const originsOf = ({ path, allowedCorsOrigins }: Configured) =>
  allowedCorsOrigins.map((origin, index) => ({ origin, where: `${path}.allowedCorsOrigins[${index}]` }))

const redirectRules = [
  each(redirectsOf, [
    {
      id: 'redirect-wildcard',
      severity: 'error',
      remedy: 'list each URI in full; redirect URIs are compared exactly',
      source: 'RFC 9700 section 2.1; OAuth 2.1 section 2.3.1',
      check: ({ uri, where }) =>
        uri.includes('*') && {
          where,
          reason: `${uri} contains a wildcard. Grantry does not support wildcards: the URI matches nothing`,
        },
    },
    {
      id: 'redirect-localhost',
      severity: 'info',
      remedy: 'register http://127.0.0.1 and http://[::1] instead, if the application can listen there',
      source: 'RFC 8252 section 8.3',
      check: ({ uri, list, where }) =>
        /^http:\/\/localhost(?:[:/?]|$)/iu.test(uri) &&
        list === 'redirectUris' && {
          where,
          reason: `${uri} depends on how the machine of the user resolves localhost, and matches every port`,
        },
    },
  ]),
  each(originsOf, [
    {
      id: 'cors-without-tls',
      severity: 'warning',
      remedy: 'use an https origin',
      source: 'OAuth 2.1 section 1.5',
      check: ({ origin, where }) =>
        /^http:/iu.test(origin) &&
        !isLocalhostUrl(origin) && {
          where,
          reason: `${origin} is http: an attacker on the network can change the page and read the tokens`,
        },
    },
  ]),
]

const hour = 3600
const day = 24 * hour

/** A refresh token is useless without the key or the secret of such a client (RFC 9700 section 4.14.2). */
const hasBoundTokens = ({ dpopBoundAccessTokens, tlsClientCertificateBoundAccessTokens }: Configured): boolean =>
  dpopBoundAccessTokens === true || tlsClientCertificateBoundAccessTokens === true

const getsRefreshTokens = ({ scopes, refreshToken }: Configured): boolean =>
  scopes.includes('offline_access') || refreshToken.unasked !== 'never'

const lifetimeRules: readonly RulePart<Configured>[] = [
  {
    id: 'access-token-lives-long',
    severity: 'warning',
    remedy: 'set accessTokenLifetime to an hour or less, and let clients refresh tokens',
    source: 'RFC 6750 section 5.3',
    check: ({ path, accessTokenLifetime: seconds }) =>
      seconds > hour && {
        where: `${path}.accessTokenLifetime`,
        reason: `A stolen access token is valid for up to ${seconds} s, which is more than an hour`,
      },
  },
  {
    id: 'code-lives-long',
    severity: 'warning',
    remedy: 'set authorizationCodeLifetime to one minute, at most ten',
    source: 'RFC 6749 section 4.1.2',
    check: ({ path, grantTypes, authorizationCodeLifetime: seconds }) =>
      grantTypes.includes('authorization_code') &&
      seconds > 600 && {
        where: `${path}.authorizationCodeLifetime`,
        reason: `A stolen authorization code is valid for up to ${seconds} s, which is more than ten minutes`,
      },
  },
  each(
    (client: Configured) => (getsRefreshTokens(client) ? [client] : []),
    [
      {
        id: 'refresh-token-lives-long',
        severity: 'warning',
        remedy:
          'set refreshToken.absoluteLifetime to 90 days or less, or set slidingLifetime so that unused tokens expire',
        source: 'RFC 9700 section 4.14.2',
        check({ path, refreshToken: { absoluteLifetime, slidingLifetime } }) {
          const longest = Math.min(absoluteLifetime, slidingLifetime)
          const reason = `An unused refresh token stays valid for ${Math.floor(longest / day)} days`
          return longest > 90 * day && { where: `${path}.refreshToken`, reason }
        },
      },
      {
        id: 'refresh-token-reused',
        severity: 'warning',
        remedy: 'set refreshToken.usage to rotate, so that theft is detected',
        source: 'RFC 9700 section 4.14.2',
        reason: 'The refresh token is not rotated, so the theft of one cannot be detected',
        check: (client) =>
          client.refreshToken.usage === 'reuse' && !hasBoundTokens(client) && `${client.path}.refreshToken.usage`,
      },
      {
        id: 'refresh-token-grace',
        severity: 'warning',
        remedy: 'let one process of the client refresh, and set refreshToken.gracePeriod to 0',
        source: 'docs/decisions/0154-refresh-tokens-of-several-processes.md',
        check: (client) =>
          client.refreshToken.gracePeriod > 0 &&
          !client.public &&
          !hasBoundTokens(client) && {
            where: `${client.path}.refreshToken.gracePeriod`,
            reason: `${client.name} can keep a secret, so its processes can share a refresh token under a lock. With the grace period, a stolen old token works for ${client.refreshToken.gracePeriod} s, and its theft is not detected`,
          },
      },
    ],
  ),
]

/** The rule of the core with this id finds a scope that the client cannot use. */
const clientCannotSucceed = coreRules.find(({ id }) => id === 'client-cannot-succeed') as RuleText

/** The rules for the grants, redirect URIs and lifetimes of each client. */
export const clientRules: readonly RulePart<Facts>[] = [
  each(enabledIn, [
    ...redirectRules,
    // Any other program on the device can send the requests of the client, and receive the codes.
    {
      id: 'redirect-unasked',
      severity: 'warning',
      remedy:
        'remove requireConsent: false, or use an https redirect URI, or give the client a secret that users do not have',
      source: 'RFC 8252 section 8.6',
      check: ({ name, path, public: isPublic, requireConsent, redirectUris }) =>
        isPublic &&
        requireConsent === false &&
        redirectUris.length > 0 &&
        redirectUris.every((uri) => !/^https:/iu.test(uri)) && {
          where: `${path}.requireConsent`,
          reason: `Users are not asked about ${name}, which has no secret and only redirect URIs on their own devices: any program there gets its tokens`,
        },
    },
    ...lifetimeRules,
    {
      id: 'plain-code-challenge',
      severity: 'warning',
      remedy: 'remove allowPlainPkce; all current client libraries support S256',
      source: 'RFC 9700 section 2.1.1; RFC 7636 section 4.2',
      check: ({ name, path, allowPlainPkce }) =>
        allowPlainPkce === true && {
          where: `${path}.allowPlainPkce`,
          reason: `${name} may use code_challenge_method plain: an attacker who reads the authorization request can redeem the code`,
        },
    },
    {
      id: 'password-grant',
      severity: 'warning',
      remedy:
        'use the authorization code grant, with the plugin sign-in or a login page of yours, and remove password from grantTypes',
      source: 'RFC 9700 section 2.4; OAuth 2.1 section 10',
      check({ name, path, grantTypes }) {
        const index = grantTypes.indexOf('password')
        const reason = `${name} handles the passwords of users itself`
        return index >= 0 && { where: `${path}.grantTypes[${index}]`, reason }
      },
    },
    {
      ...clientCannotSucceed,
      check: (client) =>
        clientGaps({ ...client, clientId: client.name }).map((reason) => ({ where: client.path, reason })),
    },
  ]),
  {
    id: 'clients-unseen',
    severity: 'info',
    remedy: 'check the clients in their own store',
    source: 'docs/guides/embedding.md',
    reason: 'The clients are in an external store and were not checked',
    check: ({ hasExternalClients }) => hasExternalClients && 'clients',
  },
]
