import { belongsToRequest, createHeldEvents } from './observability/held-events.ts'
import { isLogged, type Level, type LogLevel, levelOf } from './observability/level.ts'
import { createLineWriter, type LineOutput, type LineWriter } from './observability/line-writer.ts'
import { type LogFormat, lineBuilders } from './observability/log-formats.ts'
import { lineOfEvent, lineOfFacts, type RouteOf } from './observability/log-record.ts'
import type { ServerEvent, ServerObserver } from './observability/server-event.ts'

export interface LogOptions {
  /** The lowest level that is logged. Defaults to `info`. */
  readonly level?: LogLevel | undefined
  /** Defaults to `text` on a terminal and `json` everywhere else. */
  readonly format?: LogFormat | undefined
  /** Looks up the path of an endpoint, for `http.route`. */
  readonly routeOf?: RouteOf
}

/** Logs events and the lifecycle of the server. */
export interface Log extends Pick<LineWriter, 'dropped' | 'end'> {
  readonly format: LogFormat
  /** The lowest level that is logged. */
  level: LogLevel
  readonly observe: ServerObserver
  /** Logs something that has no event, under the given event name. */
  write(level: Level, name: string, message: string, fields?: Readonly<Record<string, unknown>>): void
  /** Writes everything immediately, including the events of requests that have not ended. */
  flush(): void
}

export const defaultLogFormat = ({ isTTY }: Pick<LineOutput, 'isTTY'>): LogFormat => (isTTY === true ? 'text' : 'json')

const none: readonly ServerEvent[] = []

const perSecond = 1000

let cachedSecond = Number.NaN
let cachedPrefix = ''

/** Returns the time in ISO 8601 with milliseconds, in UTC. Formats the date only once a second, because that is slow. */
export function isoTime(milliseconds: number = Date.now()): string {
  const current = Math.floor(milliseconds / perSecond)
  if (current !== cachedSecond) {
    cachedSecond = current
    cachedPrefix = new Date(current * perSecond).toISOString().slice(0, -'000Z'.length)
  }
  return `${cachedPrefix}${String(milliseconds - current * perSecond).padStart(3, '0')}Z`
}

/**
 * Creates a log that writes one line per request, with its events, and one per event outside of a request. Events of
 * level `warn` and `error` are always lines of their own, which are written immediately. It never throws and never
 * blocks.
 */
export function createLog(output: LineOutput, options: LogOptions = {}): Log {
  const { format = defaultLogFormat(output), routeOf = () => undefined } = options
  const line = lineBuilders[format]()
  const dropped = (count: number): string => {
    const message = `${count} log lines were dropped because the output did not accept them`
    return lineOfFacts(line, 'warn', 'log_lines_dropped', message, isoTime(), { 'grantry.count': count })
  }
  const writer = createLineWriter(output, dropped)
  const isUrgent = (level: Level): boolean => level === 'warn' || level === 'error'

  function writeEvent(event: ServerEvent, level: Level, events: readonly ServerEvent[]): void {
    writer.write(lineOfEvent(line, event, level, isoTime(), routeOf, events), isUrgent(level))
  }

  // The line is late, so it has the time of the event, which is in seconds.
  const held = createHeldEvents((event) =>
    writer.write(lineOfEvent(line, event, 'info', isoTime(event.time * perSecond), routeOf, none), false),
  )

  function flush(): void {
    held.releaseAll()
    writer.flush()
  }

  const log: Log = {
    format,
    level: options.level ?? 'info',
    observe(event) {
      const level = levelOf(event)
      if (!isLogged(level, log.level)) return
      if ('httpMethod' in event) writeEvent(event, level, held.take(event.requestId))
      else if (level === 'info' && belongsToRequest(event)) held.hold(event)
      else writeEvent(event, level, none)
    },
    write(level, name, message, fields = {}) {
      if (isLogged(level, log.level)) writer.write(lineOfFacts(line, level, name, message, isoTime(), fields), true)
    },
    flush,
    get dropped() {
      return writer.dropped
    },
    end(milliseconds) {
      flush()
      return writer.end(milliseconds)
    },
  }
  return log
}
