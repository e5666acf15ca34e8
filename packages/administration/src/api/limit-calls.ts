import { addressGroupOf, type Kit } from '@grantry/core'

/** Seconds. */
const window = 60

/** Callers that a process remembers. A flood from more addresses removes the oldest ones. */
const maxCallers = 10_000

type LimitKit = Pick<Kit, 'now' | 'refuse'>

/**
 * Limits the requests of each caller in this process: a program that runs wild must not take the storage from the sign-ins.
 *
 * @throws OAuthError `slow_down` (429)
 */
export function createCallLimit(requestsPerMinute: number) {
  const counts = new Map<string, { readonly start: number; calls: number }>()
  return (caller: string, { now, refuse }: LimitKit): void => {
    const time = now()
    const start = time - (time % window)
    const known = counts.get(caller)
    const count = known?.start === start ? known : { start, calls: 0 }
    // The newest is the last one.
    counts.delete(caller)
    counts.set(caller, count)
    if (counts.size > maxCallers) counts.delete(counts.keys().next().value ?? '')
    count.calls += 1
    if (count.calls <= requestsPerMinute) return
    throw refuse('slow_down', 'Too many requests, try again later', 'too_many_requests', {
      status: 429,
      retryAfter: start + window - time,
    })
  }
}

/**
 * Limits the requests of each client address, whatever their credentials. An unknown address has no limit: with one for all
 * callers together, a stranger could lock the administrators out.
 */
export function createAddressLimit(requestsPerMinute: number) {
  const limit = createCallLimit(requestsPerMinute)
  return (clientAddress: string | undefined, kit: LimitKit): void => {
    if (clientAddress !== undefined) limit(addressGroupOf(clientAddress), kit)
  }
}
