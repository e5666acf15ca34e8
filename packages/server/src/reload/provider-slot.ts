import type { Handler } from '@grantry/core'

/** A provider, with its routes, that serves requests until it is replaced. */
export interface Serving {
  readonly handle: Handler
  /** Releases the resources of this provider only. Called once, when its last request has ended. */
  close(): Promise<void>
}

/** Serves requests with the newest of several providers. */
export interface ProviderSlot<S extends Serving> {
  readonly current: S
  readonly handle: Handler
  /** Serves new requests with another provider. Requests in progress end with the earlier one. */
  replace(next: S): void
  /** Closes all providers, even if their requests have not ended. */
  close(): Promise<void>
}

interface Lease<S> {
  readonly serving: S
  requests: number
  /** Called when a request has ended. One function for all of them. */
  readonly requestEnded: () => void
  /** Ends the wait for the last request. */
  ended: (() => void) | undefined
}

function leaseOf<S>(serving: S): Lease<S> {
  const lease: Lease<S> = {
    serving,
    requests: 0,
    requestEnded() {
      lease.requests -= 1
      if (lease.requests === 0) lease.ended?.()
    },
    ended: undefined,
  }
  return lease
}

/**
 * @param patience milliseconds after which a replaced provider is closed although a request has not ended: a function
 * of the host that never returns must not keep it open forever
 * @param onError called when a provider could not be closed
 */
export function createProviderSlot<S extends Serving>(
  first: S,
  { patience, onError }: { readonly patience: number; readonly onError: (error: unknown) => void },
): ProviderSlot<S> {
  let lease = leaseOf(first)
  /** The functions that close replaced providers that are still open. */
  const waiting = new Set<() => Promise<void>>()

  function retire(replaced: Lease<S>): void {
    let closing: Promise<void> | undefined
    async function close(): Promise<void> {
      clearTimeout(timer)
      replaced.ended = undefined
      await replaced.serving.close().catch(onError)
      waiting.delete(closeNow)
    }
    const closeNow = (): Promise<void> => {
      closing ??= close()
      return closing
    }
    const timer = setTimeout(() => void closeNow(), patience)
    // Node.js and Bun. A request that hangs must not keep the process alive.
    ;(timer as { unref?(): void }).unref?.()
    waiting.add(closeNow)
    replaced.ended = () => void closeNow()
    if (replaced.requests === 0) void closeNow()
  }

  return {
    get current() {
      return lease.serving
    },
    handle(request, connection) {
      lease.requests += 1
      const { serving, requestEnded } = lease
      const response = serving.handle(request, connection)
      // Not awaited, because that would delay the response by some microtasks. A handler does not throw.
      response.then(requestEnded, requestEnded)
      return response
    },
    replace(next) {
      const replaced = lease
      lease = leaseOf(next)
      retire(replaced)
    },
    async close() {
      await Promise.all([...waiting].map((closeNow) => closeNow()))
      await lease.serving.close()
    },
  }
}
