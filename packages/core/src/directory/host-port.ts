import { OAuthError } from '../errors/oauth-error.ts'
import { isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/** Limits for the functions of the host that requests wait for. */
export interface HostLimits {
  /** Seconds after which a call fails. */
  readonly timeLimit: number
  /** The maximum number of concurrent calls to one function. */
  readonly maxCalls: number
  readonly runtime: Pick<Runtime, 'elapsed'>
}

/**
 * Calls a function of the host. Never throws: a failure is a rejection, because the caller may have other operations in
 * flight. A synchronous result needs no promise and no timer.
 */
export type HostPort = <T>(call: () => MaybePromise<T>) => MaybePromise<T>

/**
 * The default of `maxHostCalls`. The limit of all seven ports together stays below the Node adapter's limit of 1,000
 * concurrent requests.
 */
export const defaultMaxCalls = 128

/** A call that never settles stops counting after this many time limits. */
const lostAfter = 60

const unavailable = (port: string, reason: string, cause: string): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason,
    port,
    cause: new Error(cause),
    retryAfter: 1,
  })

/** The error for too many concurrent calls to a port. */
export const hostPortBusy = (port: string, maxCalls: number): OAuthError =>
  unavailable(port, 'host_port_busy', `${maxCalls} calls to ${port}() are in flight`)

/**
 * Creates a time limit and a bulkhead for one function of the host. The request fails at the time limit, but the call
 * counts until it settles. Otherwise calls to a hanging service would accumulate without limit.
 *
 * @param port the name for events, such as `users.authenticate`
 */
export function createHostPort(port: string, { timeLimit, maxCalls, runtime }: HostLimits): HostPort {
  let inFlight = 0
  /** Calls past their time limit, oldest first. */
  const late = new Set<{ readonly since: number }>()

  function isFull(): boolean {
    if (inFlight < maxCalls) return false
    const [oldest] = late
    if (oldest === undefined || runtime.elapsed() - oldest.since < lostAfter * timeLimit * 1000) return true
    // Without this, calls that never settle would block the port permanently. Done only when the port is full, so that
    // calls need no second timer.
    late.delete(oldest)
    inFlight -= 1
    return false
  }

  const within = <T>(pending: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let lateCall: { readonly since: number } | undefined
      const timer = setTimeout(() => {
        lateCall = { since: runtime.elapsed() }
        late.add(lateCall)
        reject(unavailable(port, 'host_port_timed_out', `${port}() did not respond within ${timeLimit} s`))
      }, timeLimit * 1000)
      const settle = (): void => {
        clearTimeout(timer)
        if (lateCall === undefined || late.delete(lateCall)) inFlight -= 1
      }
      pending.then(
        (value) => {
          settle()
          resolve(value)
        },
        (error) => {
          settle()
          reject(error)
        },
      )
    })

  return <T>(call: () => MaybePromise<T>) => {
    if (isFull()) return Promise.reject<T>(hostPortBusy(port, maxCalls))
    try {
      const outcome = call()
      if (!isThenable(outcome)) return outcome
      inFlight += 1
      return within(Promise.resolve(outcome))
    } catch (cause) {
      return Promise.reject<T>(cause)
    }
  }
}

/** Wraps a function of the host in a port; returns `undefined` if the host does not have the function. */
export function guarded<A extends readonly unknown[], R>(
  port: string,
  method: ((...parameters: A) => MaybePromise<R>) | undefined,
  limits: HostLimits,
): ((...parameters: A) => MaybePromise<R>) | undefined {
  if (method === undefined) return undefined
  const call = createHostPort(port, limits)
  return (...parameters) => call(() => method(...parameters))
}
