import { OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../json.ts'
import { isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'

/** Bounds for every function of the host that requests wait for. */
export interface HostLimits {
  /** Seconds that one call may take. */
  readonly timeLimit: number
  /** Calls of one function under way at once. */
  readonly maxCalls: number
  readonly runtime: Pick<Runtime, 'elapsed'>
}

/**
 * Calls a function of the host. Never throws: a failure is a rejection, because the caller may have other operations under way. A function that
 * responds synchronously costs no promise and no timer.
 */
export type HostPort = <T>(call: () => MaybePromise<T>) => MaybePromise<T>

/** The default of `maxHostCalls`. All seven ports together stay below the 1,000 requests that the Node adapter takes at once. */
export const usualMaxCalls = 128

/** A call whose promise never settles gives its place back after this many time limits. */
const lostAfter = 60

const unavailable = (port: string, reason: string, cause: string): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason,
    port,
    cause: new Error(cause),
    retryAfter: 1,
  })

/** Too many calls of this port are under way. */
export const hostPortBusy = (port: string, maxCalls: number): OAuthError =>
  unavailable(port, 'host_port_busy', `${maxCalls} calls of ${port}() are under way`)

/**
 * A time limit and a bulkhead for one function of the host. A request gets its response at the time limit, but the call keeps its place until it
 * settles. Otherwise a service that hangs would collect calls without bound.
 *
 * @param port the name for events, such as `users.authenticate`
 */
export function createHostPort(port: string, { timeLimit, maxCalls, runtime }: HostLimits): HostPort {
  let underWay = 0
  /** Calls past their time limit, oldest first. */
  const late = new Set<{ readonly since: number }>()

  function isFull(): boolean {
    if (underWay < maxCalls) return false
    const [oldest] = late
    if (oldest === undefined || runtime.elapsed() - oldest.since < lostAfter * timeLimit * 1000) return true
    // Only now, so that calls need no second timer. Without it, calls that are lost one by one would close the port for good.
    late.delete(oldest)
    underWay -= 1
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
        if (lateCall === undefined || late.delete(lateCall)) underWay -= 1
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
      underWay += 1
      return within(Promise.resolve(outcome))
    } catch (cause) {
      return Promise.reject<T>(cause)
    }
  }
}

/** The same function behind a port; `undefined` where the host has none. */
export function guarded<A extends readonly unknown[], R>(
  port: string,
  method: ((...parameters: A) => MaybePromise<R>) | undefined,
  limits: HostLimits,
): ((...parameters: A) => MaybePromise<R>) | undefined {
  if (method === undefined) return undefined
  const through = createHostPort(port, limits)
  return (...parameters) => through(() => method(...parameters))
}
