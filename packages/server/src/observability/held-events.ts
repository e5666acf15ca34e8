import type { ServerEvent } from './server-event.ts'

/** Keeps the events of each request until its last event. */
export interface HeldEvents {
  hold(event: ServerEvent): void
  /** Returns the events of a request and forgets them. */
  take(requestId: string): readonly ServerEvent[]
  releaseAll(): void
}

interface Held {
  readonly events: ServerEvent[]
  isOld: boolean
}

const none: readonly ServerEvent[] = []

/** Maximum number of events of all requests. */
const maxEvents = 4096

/** Milliseconds after which the events of an unfinished request are released, at the latest after twice as many. */
const maxAge = 5000

/** The functions that the host calls directly. Their calls have no last event. */
const hostCalls: ReadonlySet<string> = new Set(['authenticateUser', 'authorize', 'revoke'])

/** Whether the event belongs to a request whose end is an event, too. `revoke` and the like are not requests. */
export const belongsToRequest = ({ endpoint, spanId }: ServerEvent): boolean =>
  spanId !== undefined && endpoint !== undefined && !hostCalls.has(endpoint)

/**
 * Creates a store for the events of requests that have not ended. It releases the events of a request that takes long,
 * and those of the oldest requests if there are too many.
 */
export function createHeldEvents(release: (event: ServerEvent) => void): HeldEvents {
  const held = new Map<string, Held>()
  let count = 0
  let timer: ReturnType<typeof setInterval> | undefined

  function take(requestId: string): readonly ServerEvent[] {
    const entry = held.get(requestId)
    if (entry === undefined) return none
    held.delete(requestId)
    count -= entry.events.length
    return entry.events
  }

  function releaseEvents(requestId: string): void {
    for (const event of take(requestId)) release(event)
  }

  function sweep(): void {
    if (held.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    for (const [requestId, each] of held) {
      if (each.isOld) releaseEvents(requestId)
      else each.isOld = true
    }
  }

  function startTimer(): void {
    timer = setInterval(sweep, maxAge)
    // Node.js and Bun. The log must not keep the process alive.
    ;(timer as { unref?(): void }).unref?.()
  }

  return {
    hold(event) {
      const entry = held.get(event.requestId)
      if (entry === undefined) held.set(event.requestId, { events: [event], isOld: false })
      else entry.events.push(event)
      count += 1
      if (timer === undefined) startTimer()
      if (count <= maxEvents) return
      const [oldest] = held.keys()
      if (oldest !== undefined) releaseEvents(oldest)
    },
    take,
    releaseAll() {
      for (const requestId of [...held.keys()]) releaseEvents(requestId)
      clearInterval(timer)
      timer = undefined
    },
  }
}
