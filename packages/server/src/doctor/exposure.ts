import { localPort } from '../local-address.ts'
import { type Check, settingOf } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const ownPort = (setting: unknown): boolean =>
  typeof setting === 'object' && setting !== null && typeof (setting as { readonly port?: unknown }).port === 'number'

/** What answers strangers, and what slows them down. */
export const checkExposure: Check = ({ configuration }) => {
  const findings: Finding[] = []
  const isPublic = localPort(configuration.issuer) === undefined
  const [abuseControl, console, metrics] = ['abuseControl', 'console', 'metrics'].map((name) =>
    settingOf(configuration, name),
  )
  const endpoints: Readonly<Record<string, unknown>> = configuration.endpoints
  if (endpoints.accessTokenValidation !== false) {
    findings.push(
      finding(
        'anonymous-validation',
        'endpoints.accessTokenValidation',
        'The access token validation endpoint tells anybody what a token is worth',
      ),
    )
  }
  if ((abuseControl as { readonly enabled?: unknown } | undefined)?.enabled === false) {
    findings.push(finding('abuse-control-off', 'abuseControl.enabled', 'Nothing slows down who guesses secrets'))
  }
  if (console !== undefined && console !== false && isPublic) {
    findings.push(finding('console-on', 'console', 'The console is on, and the issuer is public'))
  }
  if (metrics !== undefined && metrics !== false && !ownPort(metrics) && isPublic) {
    findings.push(finding('metrics-public', 'metrics', 'Metrics are on the port that everybody reaches'))
  }
  return findings
}
