import { isLoopbackName, localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** What answers strangers, and what slows them down. */
export const checkExposure: Check = ({ configuration }) => {
  const { issuer, endpoints, abuseControl, console: page, metrics } = configuration
  const findings: Finding[] = []
  if (endpoints.accessTokenValidation !== false) {
    findings.push(
      finding(
        'anonymous-validation',
        'endpoints.accessTokenValidation',
        'The access token validation endpoint tells anybody what a token is worth',
      ),
    )
  }
  if (!abuseControl.enabled) {
    findings.push(finding('abuse-control-off', 'abuseControl.enabled', 'Nothing slows down who guesses secrets'))
  } else if (abuseControl.credentials === false) {
    findings.push(finding('abuse-control-off', 'abuseControl.credentials', 'Nothing slows down who guesses secrets'))
  }
  if (page?.remote === true) {
    findings.push(
      finding('console-on', 'console.remote', 'The console is open to other machines, and asks nobody who he is'),
    )
  } else if (page !== undefined && localPort(issuer) === undefined) {
    findings.push(finding('console-on', 'console', 'The console is on, and the issuer is public', 'warning'))
  }
  if (typeof metrics === 'object' && !isLoopbackName(metrics.host)) {
    findings.push(
      finding(
        'metrics-public',
        'metrics.host',
        `Metrics answer whoever reaches ${metrics.host}, and say what goes on here`,
      ),
    )
  }
  return findings
}
