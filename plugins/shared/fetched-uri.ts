import { isLoopbackHost, parseUrl } from '@grantry/core'

/** Sends a request to a URI of a client or issuer. Must not follow redirects. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>

/**
 * Names that resolve to this machine or its network (RFC 6762 appendix G, those of hosts files, and those of Kubernetes),
 * that no public host has (RFC 2606, RFC 7686, RFC 9476), or that have no dot, so that a search domain decides.
 */
const localName =
  /^[^.]*$|(?:^|\.)(?:localhost|localdomain[46]?|local|internal|intranet|private|corp|home|lan|home\.arpa|svc|test|invalid|onion|alt)$/u
/** The parser of URLs writes every form of an IPv4 address with four decimal numbers. */
const address = /^(?:\d+\.){3}\d+$|^\[/u

export interface UriRules {
  /** Allows IP addresses and names of the local network. */
  readonly allowPrivateAddresses: boolean
  /** Also allows `http` on this machine, if private addresses are allowed. Default: `false`. */
  readonly allowLoopbackHttp?: boolean | undefined
}

/**
 * Returns why the provider refuses to send a request to a URI, if it does. Which address a name has is checked when the
 * request is sent.
 */
export function fetchedUriProblem(
  uri: string,
  { allowPrivateAddresses, allowLoopbackHttp = false }: UriRules,
): string | undefined {
  const url = uri.length > 2000 ? undefined : parseUrl(uri)
  if (url === undefined) return 'must be a URL'
  const { protocol, hostname, username, password, hash } = url
  const isLoopbackHttp = allowLoopbackHttp && protocol === 'http:' && isLoopbackHost(hostname)
  if (protocol !== 'https:' && !(isLoopbackHttp && allowPrivateAddresses)) return 'must use https'
  if (username !== '' || password !== '' || hash !== '') return 'must not contain a user or a fragment'
  const name = hostname.replace(/\.$/u, '')
  if (allowPrivateAddresses) return undefined
  if (address.test(name)) return 'must have the name of a public host, not an IP address'
  return localName.test(name) ? 'must have the name of a public host, not a local or reserved one' : undefined
}
