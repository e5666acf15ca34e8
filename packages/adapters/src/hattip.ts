import type { Handler } from '@grantry/core'
import type { AdapterRequestContext, HattipHandler } from '@hattip/core'
import { refusalOf } from './admission.ts'
import { assertAwaited } from './awaited.ts'

/** What of a provider an adapter needs. */
export interface Routable {
  route(request: Request): Handler | undefined
}

/**
 * A provider as a hattip handler, so that every hattip adapter carries it. A request that is not the provider's goes on to the next handler.
 *
 * @param addressOf how much of the caller's address to believe; default: what the adapter says
 */
export function hattipHandler(
  provider: Routable,
  addressOf: (context: AdapterRequestContext) => string | undefined = ({ ip }) => ip || undefined,
): HattipHandler {
  assertAwaited(provider)
  return (context) => {
    const handler = provider.route(context.request)
    if (handler !== undefined) {
      return refusalOf(context.request) ?? handler(context.request, { clientAddress: addressOf(context) })
    }
    context.passThrough()
    return new Response(null, { status: 404 })
  }
}
