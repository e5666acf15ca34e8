import { clientGaps } from '@grantry/administration'
import type { Client } from '@grantry/core'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Whether a URI is http and not loopback. Another rule reports invalid URLs. */
const isUnencrypted = (uri: string): boolean =>
  /^http:/iu.test(uri) && URL.canParse(uri) && localPort(uri) === undefined

function checkRedirects(
  { redirectUris, postLogoutRedirectUris, allowedCorsOrigins }: Client,
  path: string,
): readonly Finding[] {
  const findings: Finding[] = []
  const lists = { redirectUris, postLogoutRedirectUris }
  for (const [list, uris] of Object.entries(lists)) {
    for (const [index, uri] of uris.entries()) {
      const where = `${path}.${list}[${index}]`
      if (uri.includes('*'))
        findings.push(
          finding(
            'redirect-wildcard',
            where,
            `${uri} contains a wildcard. Grantry does not support wildcards: the URI matches nothing`,
          ),
        )
      if (/^http:\/\/localhost(?:[:/?]|$)/iu.test(uri) && list === 'redirectUris') {
        findings.push(
          finding(
            'redirect-localhost',
            where,
            `${uri} depends on how the machine of the user resolves localhost, and matches every port: register http://127.0.0.1 and http://[::1]`,
          ),
        )
      }
      if (isUnencrypted(uri)) {
        findings.push(
          finding(
            'redirect-without-tls',
            where,
            `${uri} is http: an attacker on the network can read the authorization code`,
          ),
        )
      }
    }
  }
  for (const [index, origin] of allowedCorsOrigins.entries()) {
    if (isUnencrypted(origin)) {
      findings.push(
        finding(
          'cors-without-tls',
          `${path}.allowedCorsOrigins[${index}]`,
          `${origin} is http: an attacker on the network can change the page and read the tokens`,
        ),
      )
    }
  }
  return findings
}

/**
 * Reports a program on the devices of users that gets tokens without a question. Any other program there can send its
 * requests, and receive the codes.
 */
function checkUnasked({ clientId, public: isPublic, requireConsent, redirectUris }: Client, path: string) {
  const isOnDevice = redirectUris.length > 0 && redirectUris.every((uri) => !/^https:/iu.test(uri))
  if (!isPublic || requireConsent !== false || !isOnDevice) return []
  const text = `Users are not asked about ${clientId}, which has no secret and only redirect URIs on their own devices: any program there gets its tokens`
  return [finding('redirect-unasked', `${path}.requireConsent`, text)]
}

const hour = 3600
const day = 24 * hour

/** A refresh token is useless without the key or the secret of such a client (RFC 9700 section 4.14.2). */
const hasBoundTokens = ({ dpopBoundAccessTokens, tlsClientCertificateBoundAccessTokens }: Client): boolean =>
  dpopBoundAccessTokens === true || tlsClientCertificateBoundAccessTokens === true

function checkLifetimes(client: Client, path: string): readonly Finding[] {
  const { accessTokenLifetime, authorizationCodeLifetime, refreshToken, scopes, grantTypes } = client
  const findings: Finding[] = []
  if (accessTokenLifetime > hour) {
    findings.push(
      finding(
        'access-token-lives-long',
        `${path}.accessTokenLifetime`,
        `A stolen access token is valid for up to ${accessTokenLifetime} s, which is more than an hour`,
      ),
    )
  }
  if (grantTypes.includes('authorization_code') && authorizationCodeLifetime > 600) {
    findings.push(
      finding(
        'code-lives-long',
        `${path}.authorizationCodeLifetime`,
        `A stolen authorization code is valid for up to ${authorizationCodeLifetime} s, which is more than ten minutes`,
      ),
    )
  }
  if (!scopes.includes('offline_access') && refreshToken.unasked === 'never') return findings
  const longest = Math.min(refreshToken.absoluteLifetime, refreshToken.slidingLifetime)
  if (longest > 90 * day) {
    findings.push(
      finding(
        'refresh-token-lives-long',
        `${path}.refreshToken`,
        `An unused refresh token stays valid for ${Math.floor(longest / day)} days`,
      ),
    )
  }
  if (refreshToken.usage === 'reuse' && !hasBoundTokens(client)) {
    findings.push(
      finding(
        'refresh-token-reused',
        `${path}.refreshToken.usage`,
        'The refresh token is not rotated, so the theft of one cannot be detected',
      ),
    )
  }
  if (refreshToken.gracePeriod > 0 && !client.public && !hasBoundTokens(client)) {
    findings.push(
      finding(
        'refresh-token-grace',
        `${path}.refreshToken.gracePeriod`,
        `${client.clientId} can keep a secret, so it can share a refresh token under a lock. Until then, a stolen old token works for ${refreshToken.gracePeriod} s, and its theft is not detected`,
      ),
    )
  }
  return findings
}

function checkGrants(client: Client, path: string): readonly Finding[] {
  const { clientId, grantTypes, allowPlainPkce } = client
  const findings: Finding[] = []
  if (allowPlainPkce === true) {
    findings.push(
      finding(
        'plain-code-challenge',
        `${path}.allowPlainPkce`,
        `${clientId} may use code_challenge_method plain: an attacker who reads the authorization request can redeem the code`,
      ),
    )
  }
  const index = grantTypes.indexOf('password')
  if (index >= 0) {
    findings.push(
      finding('password-grant', `${path}.grantTypes[${index}]`, `${clientId} handles the passwords of users itself`),
    )
  }
  return [...findings, ...clientGaps(client).map((gap) => finding('client-cannot-succeed', path, gap))]
}

/** Checks the grants, redirect URIs and lifetimes of each client. */
export const checkClients: Check = ({ clients, hasExternalClients, warnings }) => [
  ...clients.flatMap((client, index) =>
    client.enabled
      ? [checkRedirects, checkUnasked, checkLifetimes, checkGrants].flatMap((check) =>
          check(client, `clients[${index}]`),
        )
      : [],
  ),
  ...warnings
    .filter(({ reason }) => reason === 'client_cannot_succeed')
    .map(({ message }) => finding('client-cannot-succeed', 'clients', message)),
  ...(hasExternalClients
    ? [finding('clients-unseen', 'clients', 'The clients are in an external store and were not checked')]
    : []),
]

/** Checks whether scopes are used, and whether APIs have an audience that tokens can be for. */
export const checkScopes: Check = ({ scopes, clients, configuration, hasExternalClients }) => {
  const { plugins = [] } = configuration
  const canName = plugins.some((plugin) => !isNamedPlugin(plugin) || plugin.name === 'resource-indicators')
  const ofPlugins = plugins.flatMap((plugin) =>
    isNamedPlugin(plugin) && (plugin.name === 'client-metadata' || plugin.name === 'registration') ? plugin.scopes : [],
  )
  const requestable = new Set([...clients.flatMap((client) => (client.enabled ? client.scopes : [])), ...ofPlugins])
  const apis = scopes.filter(({ identity }) => !identity)
  return scopes.flatMap(({ name, identity, audience, enabled }, index) => [
    ...(!hasExternalClients && enabled && !requestable.has(name)
      ? [finding('scope-unused', `scopes[${index}]`, `No client may request ${name}`)]
      : []),
    // A single API cannot be confused with another.
    ...(!identity && audience === undefined && apis.length > 1
      ? [
          finding(
            'scope-without-audience',
            `scopes[${index}].audience`,
            `A token for ${name} has no audience of its own, so the other APIs (${apis.length} in total) could accept it`,
          ),
        ]
      : []),
    ...(Array.isArray(audience) && audience.length > 1 && !canName
      ? [
          finding(
            'plugin-missing',
            `scopes[${index}].audience`,
            `Tokens for ${name} need a request that names its audience, which only the plugin resource-indicators reads`,
          ),
        ]
      : []),
  ])
}
