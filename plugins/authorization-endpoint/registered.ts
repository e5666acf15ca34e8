import { type Client, type EndpointRequest, isLocalhostUrl, isLoopbackHost } from '@grantry/core'
import type { ErrorView } from './authorization-pages.ts'

/** What is known about who sent a request. A function of the host has no address. */
export type Sender = Pick<EndpointRequest, 'header'> & Partial<Pick<EndpointRequest, 'clientAddress'>>

/** A proxy on this machine makes each caller look local. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * Whether a developer has sent a request: to an issuer without TLS, which can only be on this machine, from this machine. Such
 * an issuer can still be behind a proxy or a tunnel, or have a name that leads here.
 */
function isInDevelopment(issuer: string, { header, clientAddress = 'localhost' }: Sender): boolean {
  const host = header('host') ?? 'localhost'
  return (
    issuer.startsWith('http:') &&
    [issuer, `http://${host}`].every(isLocalhostUrl) &&
    !/[@/]/u.test(host) &&
    isLoopbackHost(clientAddress) &&
    proxyHeaders.every((name) => header(name) === null)
  )
}

/** Returns the settings of the client that the page of a refusal shows to a developer. */
export function registeredFor(
  { issuer }: { readonly issuer: string },
  sender: Sender,
  client: Client | undefined,
): Pick<ErrorView, 'registered'> {
  if (client === undefined || !isInDevelopment(issuer, sender)) return {}
  const { redirectUris, grantTypes, scopes } = client
  return { registered: { redirectUris, grantTypes, scopes } }
}
