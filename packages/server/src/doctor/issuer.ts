import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** How clients reach the server. */
export const checkIssuer: Check = ({ configuration: { issuer, trustedProxies } }) => {
  if (localPort(issuer) !== undefined) {
    return [finding('issuer-loopback', 'issuer', `The issuer ${issuer} is of this machine: nobody else can reach it`)]
  }
  if (trustedProxies !== 0) return []
  return [
    finding(
      'trusted-proxies-zero',
      'trustedProxies',
      'The issuer is public and no proxy is trusted: behind one, every caller has the address of the proxy, and limits count all callers as one; behind one on this machine that adds no header, /metrics and the console take strangers for callers of this machine',
    ),
  ]
}
