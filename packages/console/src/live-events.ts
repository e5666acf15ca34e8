import type { Observer } from '@grantry/core'
import { consoleHeaders } from './headers.ts'
import { type ShownEvent, toShownEvent } from './shown-event.ts'

/** Maximum number of connected pages. */
const maxListeners = 8
/** Number of recent events that a page receives when it connects or reconnects. */
const maxRecent = 200
/** Maximum number of queued messages per page. A slower page is disconnected, and reconnects by itself. */
const maxQueued = 512
/** Milliseconds between keep-alive comments, below the idle timeouts of servers and proxies. */
const keepAliveInterval = 15_000

type Listener = ReadableStreamDefaultController<Uint8Array>

/** Streams events to open pages (Server-Sent Events). */
export interface LiveEvents {
  readonly publish: Observer
  /**
   * Returns an event stream, or 503 if too many pages are connected.
   *
   * @param mustReturn whether it ends within 30 seconds, so that the page proves again that it may have it. Default: `false`
   */
  listen(request: Request, mustReturn?: boolean): Response
  /** Ends all streams, which would otherwise delay the shutdown of the server. */
  close(): void
}

const formatMessage = (event: ShownEvent): string => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`

const tooMany = (): Response =>
  new Response('Too many console pages are open. Close one.\n', {
    status: 503,
    headers: { ...consoleHeaders, 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' },
  })

export function createLiveEvents(): LiveEvents {
  /** With the keep-alive comments after which each stream ends. */
  const listeners = new Map<Listener, number>()
  const recent: ShownEvent[] = []
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  let closed = false

  function removeListener(listener: Listener): void {
    if (!listeners.delete(listener) || listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(listener: Listener): void {
    if (!listeners.has(listener)) return
    removeListener(listener)
    listener.close()
  }

  function send(listener: Listener, text: string): void {
    if ((listener.desiredSize ?? 0) <= 0) end(listener)
    else listener.enqueue(encoder.encode(text))
  }

  function keepAlive(): void {
    for (const [listener, left] of [...listeners]) {
      if (left === 0) end(listener)
      else {
        listeners.set(listener, left - 1)
        send(listener, ': still here\n\n')
      }
    }
  }

  function missedBy(lastId: string | null): readonly ShownEvent[] {
    return recent.slice(recent.findIndex(({ id }) => id === lastId) + 1)
  }

  return {
    publish(event) {
      const shown = closed ? undefined : toShownEvent(event)
      if (shown === undefined) return
      recent.push(shown)
      if (recent.length > maxRecent) recent.shift()
      for (const listener of [...listeners.keys()]) send(listener, formatMessage(shown))
    },

    listen(request, mustReturn = false) {
      if (closed || listeners.size >= maxListeners) {
        return tooMany()
      }
      let subscriber: Listener
      const body = new ReadableStream<Uint8Array>(
        {
          start(listener) {
            subscriber = listener
            listeners.set(listener, mustReturn ? 1 : Number.POSITIVE_INFINITY)
            timer ??= setInterval(keepAlive, keepAliveInterval)
            // Two chunks, because some servers hold back the first chunk until they see the second.
            send(listener, 'retry: 2000\n\n')
            send(listener, ': hello\n\n')
            for (const event of missedBy(request.headers.get('last-event-id'))) send(listener, formatMessage(event))
          },
          cancel: () => removeListener(subscriber),
        },
        { highWaterMark: maxQueued },
      )
      // Frees the slot of a closed page immediately instead of at the next keep-alive. Deno cancels the body itself, and
      // prints a warning if the signal is used.
      if (!('Deno' in globalThis)) request.signal.addEventListener('abort', () => end(subscriber))
      return new Response(body, { headers: { ...consoleHeaders, 'content-type': 'text/event-stream' } })
    },

    close() {
      closed = true
      for (const listener of [...listeners.keys()]) end(listener)
    },
  }
}
