import { refusalOf } from './admission.ts'
import { assertAwaited } from './awaited.ts'
import { withBodyDeadline } from './body-deadline.ts'
import { clientAddress } from './client-address.ts'
import { refusal } from './refusal.ts'
import { requestTimeoutOf, type Servable, type ServeOptions } from './running-server.ts'

/** What the servers of Bun and Deno do alike: judge the request, believe only proxies of ours, and wait for a body only so long. */
export function createAnswer(
  provider: Servable,
  options: ServeOptions,
): (request: Request, socketAddress: string | undefined) => Promise<Response> {
  assertAwaited(provider)
  const { trustedProxies = 0, onRefused } = options
  const requestTimeout = requestTimeoutOf(options)
  return async (request, socketAddress) => {
    const forwardedFor = request.headers.get('x-forwarded-for') ?? undefined
    const address = clientAddress(socketAddress, forwardedFor, trustedProxies)
    const refused = refusalOf(request)
    if (refused !== undefined) {
      onRefused?.({ status: refused.status, method: request.method, clientAddress: address })
      return refused
    }
    const timed = withBodyDeadline(request, requestTimeout)
    try {
      const response = await provider.fetch(timed.request, {
        clientAddress: address,
      })
      return timed.isLate() ? refusal(408, 'invalid_request', 'The body did not come in time') : response
    } finally {
      timed.forget()
    }
  }
}

/** What a server says when it, and not the provider, has failed: nothing of the inside. */
export const failure = (): Response => refusal(500, 'server_error')
