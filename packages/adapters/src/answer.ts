import { refusalOf } from './admission.ts'
import { assertAwaited } from './awaited.ts'
import { withBodyDeadline } from './body-deadline.ts'
import { clientAddress } from './client-address.ts'
import { createPlaces } from './places.ts'
import { refusal } from './refusal.ts'
import { createReports } from './reports.ts'
import { requestTimeoutOf, type Servable, type ServeOptions } from './running-server.ts'

const overloaded = (): Response =>
  refusal(503, 'temporarily_unavailable', 'The service is temporarily unavailable', { 'retry-after': '1' })

const isLast = ({ done }: { readonly done: boolean }): boolean => done

/**
 * Creates the request handler for Bun and Deno. It refuses ambiguous requests, trusts only configured proxies, and
 * limits the number of requests and bodies and the time a body may take.
 */
export function createAnswer(
  provider: Servable,
  options: ServeOptions,
): (request: Request, socketAddress: string | undefined) => Promise<Response> {
  assertAwaited(provider)
  const { trustedProxies = 0 } = options
  const requestTimeout = requestTimeoutOf(options)
  const places = createPlaces(options)
  const { checkForwarding, ...reports } = createReports(options, trustedProxies)

  return async (request, socketAddress) => {
    const forwardedFor = request.headers.get('x-forwarded-for') ?? undefined
    const address = clientAddress(socketAddress, forwardedFor, trustedProxies)
    checkForwarding?.((name) => request.headers.get(name), socketAddress)
    const refuse = (response: Response): Response => {
      reports.refused({ status: response.status, method: request.method, clientAddress: address })
      return response
    }
    const refused = refusalOf(request)
    if (refused !== undefined) return refuse(refused)
    const place = places.take()
    if (place === undefined) return refuse(overloaded())
    const timed = withBodyDeadline(request, requestTimeout, (arrival) => places.whileWaiting(place, arrival, isLast))
    const late = (): Response => refusal(408, 'invalid_request', 'The request body did not arrive in time')
    try {
      const response = await provider.fetch(timed.request, { clientAddress: address })
      if (place.lost) return refuse(overloaded())
      return timed.isLate() ? late() : response
    } catch (error) {
      if (place.lost) return refuse(overloaded())
      if (timed.isLate()) return late()
      reports.error(error, request)
      return failure()
    } finally {
      timed.forget()
      places.give(place)
    }
  }
}

/** Returns the 500 response for a failure of the server rather than the provider. It contains no details. */
export const failure = (): Response => refusal(500, 'server_error')
