import { withBodyDeadline } from './body-deadline.ts'
import { createBodyDeadlines } from './body-deadlines.ts'
import { checkRequest } from './check-request.ts'
import { bodyTimeout, internalServerError, overloaded } from './error-response.ts'
import {
  clientAddress,
  createCallbacks,
  createConcurrencyLimit,
  createReadCertificate,
  errorPage,
  errorPageHeaders,
  isForUser,
  requestTimeoutOf,
  type ServeOptions,
} from './http-bridge/portable.ts'
import { assertAwaited, type Servable } from './servable.ts'

/** Returns the response for the caller: a page for a browser that shows it to its user. */
function forCaller({ headers, method }: Request, response: Response, error: string): Response {
  if (!isForUser((name) => headers.get(name))) return response
  const { status } = response
  const shown = { ...Object.fromEntries(response.headers), ...errorPageHeaders }
  return new Response(method === 'HEAD' ? null : errorPage(error), { status, headers: shown })
}

/**
 * Creates the request handler for Bun and Deno. It rejects ambiguous requests, trusts only configured proxies, and
 * limits the number of requests and bodies and the time a body may take.
 *
 * @throws TypeError when an option is invalid, or the provider was not awaited.
 */
export function createHandler(
  provider: Servable,
  options: ServeOptions,
): (request: Request, socketAddress: string | undefined) => Promise<Response> {
  assertAwaited(provider)
  // The host's own server would ignore the option.
  if ('tls' in options && options.tls !== undefined) throw new TypeError('tls: only serve() has it')
  const { trustedProxies = 0 } = options
  const deadlines = createBodyDeadlines(requestTimeoutOf(options))
  const readCertificate = createReadCertificate(options.clientCertificate)
  const limit = createConcurrencyLimit(options)
  const { checkForwarding, ...callbacks } = createCallbacks(options, trustedProxies)

  return async (request, socketAddress) => {
    const forwardedFor = trustedProxies === 0 ? undefined : (request.headers.get('x-forwarded-for') ?? undefined)
    const address = clientAddress(socketAddress, forwardedFor, trustedProxies)
    checkForwarding?.((name) => request.headers.get(name), socketAddress)
    const reject = (response: Response): Response => {
      callbacks.refused({ status: response.status, method: request.method, clientAddress: address })
      return response
    }
    const busy = (): Response => reject(forCaller(request, overloaded(), 'temporarily_unavailable'))
    const rejection = checkRequest(request)
    if (rejection !== undefined) return reject(rejection)
    const slot = limit.acquire()
    if (slot === undefined) return busy()
    const timed = withBodyDeadline(request, deadlines, (arrival, isWhole) =>
      limit.releaseWhile(slot, arrival, ({ done }) => isWhole || done),
    )
    try {
      const clientCertificate = readCertificate((name) => request.headers.get(name), socketAddress)
      const response = await provider.fetch(timed.request, { clientAddress: address, clientCertificate })
      if (slot.evicted) return busy()
      return timed.isLate() ? forCaller(request, bodyTimeout(), 'invalid_request') : response
    } catch (error) {
      if (slot.evicted) return busy()
      if (timed.isLate()) return forCaller(request, bodyTimeout(), 'invalid_request')
      callbacks.error(error, request)
      return forCaller(request, internalServerError(), 'server_error')
    } finally {
      timed.cancelDeadline()
      limit.release(slot)
    }
  }
}
