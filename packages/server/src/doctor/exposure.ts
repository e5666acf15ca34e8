import { isLoopbackName, localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Checks what unauthenticated callers can reach, and whether abuse control limits them. */
export const checkExposure: Check = ({ configuration }) => {
  const { issuer, endpoints, abuseControl, console: page, metrics } = configuration
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
  if (page?.remote === true) {
    findings.push(
      finding('console-on', 'console.remote', 'The console is open to other machines and requires no authentication'),
    )
  } else if (page !== undefined && localPort(issuer) === undefined) {
    findings.push(finding('console-on', 'console', 'The console is on, although the issuer is public', 'warning'))
  }
  if (typeof metrics === 'object' && !isLoopbackName(metrics.host)) {
    findings.push(
      finding('metrics-public', 'metrics.host', `Any caller that reaches ${metrics.host} can read the metrics`),
    )
  }
  return findings
}
