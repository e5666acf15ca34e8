import { createBoundedMap } from '../bounded-map.ts'
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
  /** Counts the calls of all ports that share it. */
  readonly total?: Bulkhead | undefined
}

/**
 * Calls a function of the host. Never throws: a failure is a rejection, because the caller may have other operations in
 * flight. A synchronous result needs no promise and no timer.
 */
export type HostPort = <T>(call: () => MaybePromise<T>) => MaybePromise<T>

/**
 * The default of `maxHostCalls`. The limits of all ports together stay below the Node adapter's limit of 1,000 concurrent
 * requests: six times this value in all, and a seventh time for an external signer.
 */
export const defaultMaxCalls = 128

/** How many ports can be full at the same time. A service behind many of them can make all of them hang. */
const maxFullPorts = 6

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

/** Counts calls until they settle. */
interface Bulkhead {
  isFull(): boolean
  enter(): void
  /** Counts a call as past its time limit. */
  delay(call: object): void
  leave(call: object): void
}

function createBulkhead({ timeLimit, maxCalls, runtime }: HostLimits): Bulkhead {
  let inFlight = 0
  /** When calls have passed their time limit, oldest first. */
  const late = new Map<object, number>()
  /** Calls that no longer count, although they have not settled. */
  const lost = new WeakSet<object>()
  return {
    isFull() {
      if (inFlight < maxCalls) return false
      const [oldest] = late
      if (oldest === undefined || runtime.elapsed() - oldest[1] < lostAfter * timeLimit * 1000) return true
      // Without this, calls that never settle would block the port permanently. Done only when the port is full, so that
      // calls need no second timer.
      const [call] = oldest
      late.delete(call)
      lost.add(call)
      inFlight -= 1
      return false
    },
    enter() {
      inFlight += 1
    },
    delay: (call) => void late.set(call, runtime.elapsed()),
    leave(call) {
      late.delete(call)
      if (!lost.has(call)) inFlight -= 1
    },
  }
}

/** Returns the limits of ports that share a total, so that they cannot hold every request of the server. */
export const sharedLimits = (limits: HostLimits): HostLimits => ({
  ...limits,
  total: createBulkhead({ ...limits, maxCalls: maxFullPorts * limits.maxCalls }),
})

/**
 * Creates a time limit and a bulkhead for one function of the host. The request fails at the time limit, but the call
 * counts until it settles. Otherwise calls to a hanging service would accumulate without limit.
 *
 * @param port the name for events, such as `users.authenticate`
 */
export function createHostPort(port: string, limits: HostLimits): HostPort {
  const { timeLimit, maxCalls, total } = limits
  const bulkheads = [createBulkhead(limits), ...(total === undefined ? [] : [total])]

  const within = <T>(pending: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const call = {}
      for (const bulkhead of bulkheads) bulkhead.enter()
      const timer = setTimeout(() => {
        for (const bulkhead of bulkheads) bulkhead.delay(call)
        reject(unavailable(port, 'host_port_timed_out', `${port}() did not respond within ${timeLimit} s`))
      }, timeLimit * 1000)
      const settle = (): void => {
        clearTimeout(timer)
        for (const bulkhead of bulkheads) bulkhead.leave(call)
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
    if (bulkheads.some((bulkhead) => bulkhead.isFull())) return Promise.reject<T>(hostPortBusy(port, maxCalls))
    try {
      const outcome = call()
      return isThenable(outcome) ? within(Promise.resolve(outcome)) : outcome
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

/** More than plugins need. Bounds the memory if a plugin computes the names of its ports. */
const maxPorts = 1000

/** Creates `callHost` of the kits: each name has a port of its own. */
export function createHostCalls(limits: HostLimits): <T>(port: string, call: () => MaybePromise<T>) => Promise<T> {
  const ports = createBoundedMap<HostPort>(maxPorts)
  return async (port, call) => {
    const known = ports.get(port)
    if (known !== undefined) return known(call)
    const created = createHostPort(port, limits)
    ports.set(port, created)
    return created(call)
  }
}
