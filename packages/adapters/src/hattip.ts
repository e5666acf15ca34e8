import type { Handler } from '@grantry/core'
import type { AdapterRequestContext, HattipHandler } from '@hattip/core'
import { checkRequest } from './check-request.ts'
import { assertAwaited } from './servable.ts'

/** The part of a provider that the adapter uses. */
export interface Routable {
  route(request: Request): Handler | undefined
}

/**
 * Returns a hattip handler, for use with any hattip adapter. A request that matches no endpoint of the provider is
 * passed to the next handler.
 *
 * @param addressOf returns the client's address; default: the `ip` that the hattip adapter reports
 */
export function hattipHandler(
  provider: Routable,
  addressOf: (context: AdapterRequestContext) => string | undefined = ({ ip }) => ip || undefined,
): HattipHandler {
  assertAwaited(provider)
  return (context) => {
    const handler = provider.route(context.request)
    if (handler !== undefined) {
      return checkRequest(context.request) ?? handler(context.request, { clientAddress: addressOf(context) })
    }
    context.passThrough()
    return new Response(null, { status: 404 })
  }
}
