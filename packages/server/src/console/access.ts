import type { ConnectionInfo } from '@grantry/core'
import { parseHost } from '../host-header.ts'
import { isLoopbackName } from '../local-address.ts'
import { isForwarded, isLoopbackAddress } from '../local-caller.ts'
import { consoleHeaders } from './headers.ts'
import type { ConsoleOptions } from './options.ts'

const refuse = (sentence: string, status = 403, more: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${sentence}\n`, {
    status,
    headers: { ...consoleHeaders, 'content-type': 'text/plain; charset=utf-8', ...more },
  })

const foreignSite = 'The console is no part of other sites. Type its address yourself.'

/** Another site's page may neither read the console nor use it up: browsers say where a request comes from. */
function comesFromElsewhere({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return true
  const origin = headers.get('origin')
  return origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host)
}

/**
 * Why this request may not see the console; `undefined` when it may. The address keeps other machines out. The `Host` header keeps out a page whose
 * name was pointed at this machine after it was loaded (DNS rebinding): the address is right then, and the name is the attacker's.
 */
export function refusalOf(
  request: Request,
  connection: ConnectionInfo | undefined,
  { remote, issuer }: ConsoleOptions & { readonly issuer: string },
): Response | undefined {
  if (request.method !== 'GET') return refuse('Send a GET.', 405, { allow: 'GET' })
  const host = parseHost(request.headers.get('host'))
  const isOwnName = host !== undefined && (isLoopbackName(host.hostname) || (remote && isHostOf(issuer, host)))
  if (!isOwnName) {
    return refuse('The console does not answer under this name. Open it as 127.0.0.1, or set console.remote.')
  }
  if (!remote && !isLoopbackAddress(connection?.clientAddress)) {
    return refuse('The console answers callers on this machine only. Use a tunnel, or set console.remote.')
  }
  if (!remote && isForwarded(request)) {
    return refuse('The console does not answer through a proxy. Use a tunnel, or set console.remote.')
  }
  return comesFromElsewhere(request, host.host) ? refuse(foreignSite) : undefined
}

/** The port is the proxy's affair: what it says of it may be left out. */
const isHostOf = (issuer: string, host: URL): boolean => new URL(issuer).hostname === host.hostname
