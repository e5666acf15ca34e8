import type { Handler } from '@grantry/core'

/** The part of a provider that a server uses. */
export interface Servable {
  readonly fetch: Handler
}

/**
 * Rejects a provider that was not awaited. Without this check, the host would start and then fail every request.
 *
 * @throws TypeError when `provider` is a promise.
 */
export function assertAwaited(provider: object): void {
  if (!('then' in provider)) return
  throw new TypeError('The provider is a promise; write await createProvider(...)')
}
