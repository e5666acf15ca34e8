import { localPort } from '../local-address.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Checks how clients reach the server. */
export const checkIssuer: Check = ({ configuration: { issuer, trustedProxies } }) => {
  if (localPort(issuer) !== undefined) {
    return [
      finding('issuer-loopback', 'issuer', `The issuer ${issuer} is a loopback URL, which other machines cannot reach`),
    ]
  }
  if (trustedProxies !== 0) return []
  return [
    finding(
      'trusted-proxies-zero',
      'trustedProxies',
      'The issuer is public, but trustedProxies is 0. Behind a proxy, all callers then share the address of the proxy and its limits; behind a local proxy that adds no headers, remote callers can open /metrics and the console',
    ),
  ]
}
