import { isLoopbackHost } from '@grantry/core'
import { consoleAdministration } from '../configuration/console-client.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Checks how clients reach the server. */
export const checkIssuer: Check = ({ configuration: { issuer, trustedProxies, tls } }) => {
  if (localPort(issuer) !== undefined) {
    return [
      finding('issuer-loopback', 'issuer', `The issuer ${issuer} is a loopback URL, which other machines cannot reach`),
    ]
  }
  if (trustedProxies !== 0 || tls !== undefined) return []
  return [
    finding(
      'trusted-proxies-zero',
      'trustedProxies',
      'The issuer is public, but trustedProxies is 0. Behind a proxy, all callers then share the address of the proxy and its limits; behind a local proxy that adds no headers, remote callers can open /metrics and the console',
    ),
  ]
}

function consoleFindings(configuration: CheckedConfiguration): readonly Finding[] {
  const { issuer, console: page } = configuration
  // As the administration, it has a sign-in.
  if (page === undefined || consoleAdministration(configuration) !== undefined) return []
  if (page.remote) {
    return [
      finding('console-on', 'console.remote', 'The console is open to other machines and requires no authentication'),
    ]
  }
  if (localPort(issuer) !== undefined) return []
  return [finding('console-on', 'console', 'The console is on, although the issuer is public', 'warning')]
}

/** Checks what unauthenticated callers can reach, and whether abuse control limits them. */
export const checkExposure: Check = ({ configuration }) => {
  const { endpoints, abuseControl, metrics } = configuration
  const findings: Finding[] = []
  if (endpoints.accessTokenValidation !== false) {
    findings.push(
      finding(
        'anonymous-validation',
        'endpoints.accessTokenValidation',
        'The access token validation endpoint discloses the claims of a token without authentication',
      ),
    )
  }
  if (!abuseControl.enabled) {
    findings.push(finding('abuse-control-off', 'abuseControl.enabled', 'Attempts to guess secrets are not limited'))
  } else if (abuseControl.credentials === false) {
    findings.push(finding('abuse-control-off', 'abuseControl.credentials', 'Attempts to guess secrets are not limited'))
  }
  if (typeof metrics === 'object' && !isLoopbackHost(metrics.host)) {
    findings.push(
      finding('metrics-public', 'metrics.host', `Any caller that reaches ${metrics.host} can read the metrics`),
    )
  }
  return [...findings, ...consoleFindings(configuration)]
}

const readable = 0o044
const writable = 0o022

/** Checks what other users of this machine may do with the files of the server. */
export const checkFiles: Check = ({ files }) =>
  files.flatMap(({ path, mode, kind }) => {
    if (mode === undefined) return []
    return [
      ...(kind === 'secret' && (mode & readable) !== 0
        ? [finding('file-readable', path, 'Other users of this machine can read it, and it contains a secret')]
        : []),
      ...((mode & writable) !== 0 ? [finding('file-writable', path, 'Other users of this machine can change it')] : []),
    ]
  })
