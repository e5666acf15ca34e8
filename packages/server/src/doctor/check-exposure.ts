import { isLoopbackHost } from '@grantry/core'
import { each, type RulePart } from '../check-rules/rule.ts'
import { consoleAdministration } from '../configuration/console-client.ts'
import { localPort } from '../local-address.ts'
import type { Facts } from './facts.ts'

/** The rules for how clients reach the server. */
export const issuerRules: readonly RulePart<Facts>[] = [
  {
    id: 'issuer-loopback',
    severity: 'info',
    remedy: 'before clients on other machines use the server, set issuer to the https URL under which they reach it',
    source: 'OAuth 2.1 section 1.5',
    check: ({ configuration: { issuer } }) =>
      localPort(issuer) !== undefined && {
        where: 'issuer',
        reason: `The issuer ${issuer} is a loopback URL, which other machines cannot reach`,
      },
  },
  {
    id: 'trusted-proxies-zero',
    severity: 'warning',
    remedy: 'set trustedProxies to the number of your own proxies in front of the server (usually 1)',
    source: 'RFC 9700 section 4.13',
    reason:
      'The issuer is public, but trustedProxies is 0. Behind a proxy, all callers then share the address of the proxy and its limits; behind a local proxy that adds no headers, remote callers can open /metrics and the console',
    check: ({ configuration: { issuer, trustedProxies, tls } }) =>
      localPort(issuer) === undefined && trustedProxies === 0 && tls === undefined && 'trustedProxies',
  },
]

/** The rules for what unauthenticated callers can reach, and for abuse control. */
export const exposureRules: readonly RulePart<Facts>[] = [
  {
    id: 'anonymous-validation',
    severity: 'warning',
    remedy:
      'let APIs introspect tokens with the secret of their scope, and set endpoints.accessTokenValidation to false',
    source: 'RFC 7662 section 2.1',
    reason: 'The access token validation endpoint discloses the claims of a token without authentication',
    check: ({ configuration: { endpoints } }) =>
      endpoints.accessTokenValidation !== false && 'endpoints.accessTokenValidation',
  },
  {
    id: 'abuse-control-off',
    severity: 'warning',
    remedy: 'remove the setting, or limit attempts in a proxy and accept it in check.accept',
    source: 'RFC 6749 section 2.3.1; OAuth 2.1 section 7.7',
    reason: 'Attempts to guess secrets are not limited',
    check: ({ configuration: { abuseControl } }) =>
      (!abuseControl.enabled || abuseControl.credentials === false) &&
      `abuseControl.${abuseControl.enabled ? 'credentials' : 'enabled'}`,
  },
  {
    id: 'metrics-public',
    severity: 'warning',
    remedy:
      'use an address that only the scraper can reach, or protect it with a firewall and accept it in check.accept',
    source: 'docs/guides/doctor.md',
    check: ({ configuration: { metrics } }) =>
      typeof metrics === 'object' &&
      !isLoopbackHost(metrics.host) && {
        where: 'metrics.host',
        reason: `Any caller that reaches ${metrics.host} can read the metrics`,
      },
  },
  {
    id: 'console-on',
    severity: 'error',
    remedy: 'set console to false; without the plugins sign-in and admin it is a development tool',
    source: 'docs/guides/doctor.md',
    check: ({ configuration }) => {
      const { issuer, console: page } = configuration
      // As the administration, it has a sign-in.
      if (page === undefined || consoleAdministration(configuration) !== undefined) return false
      if (page.remote) {
        return {
          where: 'console.remote',
          reason: 'The console is open to other machines and requires no authentication',
        }
      }
      const reason = 'The console is on, although the issuer is public'
      return localPort(issuer) === undefined && { where: 'console', reason, severity: 'warning' }
    },
  },
]

const readable = 0o044
const writable = 0o022

/** The rules for what other users of this machine may do with the files of the server. */
export const fileRules: readonly RulePart<Facts>[] = [
  each(
    ({ files }) => files,
    [
      {
        id: 'file-readable',
        severity: 'error',
        remedy: 'run chmod 600 on it; if others may have read it, replace its secrets',
        source: 'docs/guides/doctor.md',
        reason: 'Other users of this machine can read it, and it contains a secret',
        check: ({ path: where, mode = 0, kind }) => kind === 'secret' && (mode & readable) !== 0 && where,
      },
      {
        id: 'file-writable',
        severity: 'error',
        remedy: 'run chmod go-w on it; a user who can change it controls who gets tokens',
        source: 'docs/guides/doctor.md',
        reason: 'Other users of this machine can change it',
        check: ({ path: where, mode = 0 }) => (mode & writable) !== 0 && where,
      },
    ],
  ),
]
