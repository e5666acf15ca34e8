import type { Observer } from '@grantry/core'
import { consoleHeaders } from './headers.ts'
import { type ShownEvent, shownEvent } from './shown-event.ts'

/** Pages that may listen at once. */
const mostListeners = 8
/** Events that a page which comes, or comes back, can catch up on. */
const mostRecent = 200
/** Messages that wait for one page; one that does not keep up is let go, and comes back by itself. */
const mostWaiting = 512
/** Milliseconds between signs of life: below the idle limits of servers and proxies. */
const beat = 15_000

type Listener = ReadableStreamDefaultController<Uint8Array>

/** Events, as they happen, for the pages that are open (Server-Sent Events). */
export interface LiveEvents {
  readonly publish: Observer
  /** A stream that does not end by itself; 503 when too many listen. */
  listen(request: Request): Response
  /** Ends every stream: otherwise each would hold up the end of the server. */
  close(): void
}

const messageOf = (event: ShownEvent): string => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`

export function createLiveEvents(): LiveEvents {
  const listeners = new Set<Listener>()
  const recent: ShownEvent[] = []
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  let closed = false

  function forget(listener: Listener): void {
    if (!listeners.delete(listener) || listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(listener: Listener): void {
    if (!listeners.has(listener)) return
    forget(listener)
    listener.close()
  }

  function send(listener: Listener, text: string): void {
    if ((listener.desiredSize ?? 0) <= 0) end(listener)
    else listener.enqueue(encoder.encode(text))
  }

  function sendAll(text: string): void {
    for (const listener of [...listeners]) send(listener, text)
  }

  function missedBy(lastId: string | null): readonly ShownEvent[] {
    return recent.slice(recent.findIndex(({ id }) => id === lastId) + 1)
  }

  return {
    publish(event) {
      const shown = closed ? undefined : shownEvent(event)
      if (shown === undefined) return
      recent.push(shown)
      if (recent.length > mostRecent) recent.shift()
      sendAll(messageOf(shown))
    },

    listen(request) {
      if (closed || listeners.size >= mostListeners) {
        return new Response('Too many pages listen. Close one.\n', {
          status: 503,
          headers: { ...consoleHeaders, 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' },
        })
      }
      let own: Listener
      const body = new ReadableStream<Uint8Array>(
        {
          start(listener) {
            own = listener
            listeners.add(listener)
            timer ??= setInterval(() => sendAll(': still here\n\n'), beat)
            // Two at once: a server that looks whether more is to come does not keep the first back.
            send(listener, 'retry: 2000\n\n')
            send(listener, ': hello\n\n')
            for (const event of missedBy(request.headers.get('last-event-id'))) send(listener, messageOf(event))
          },
          cancel: () => forget(own),
        },
        { highWaterMark: mostWaiting },
      )
      // A page that has gone frees its place now, not at the next sign of life. Deno cancels the body at once, and prints a warning to whoever
      // looks at the signal.
      if (!('Deno' in globalThis)) request.signal.addEventListener('abort', () => end(own))
      return new Response(body, { headers: { ...consoleHeaders, 'content-type': 'text/event-stream' } })
    },

    close() {
      closed = true
      for (const listener of [...listeners]) end(listener)
    },
  }
}
