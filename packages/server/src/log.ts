import { isLogged, type Level, type LogLevel, levelOf } from './observability/level.ts'
import { createLineWriter, type LineOutput, type LineWriter } from './observability/line-writer.ts'
import { type LogFormat, lineOf } from './observability/log-formats.ts'
import { type LogRecord, type RouteOf, recordOf } from './observability/log-record.ts'
import type { ServerObserver } from './observability/server-event.ts'

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
  readonly observe: ServerObserver
  /** Logs something that has no event, under the given event name. */
  write(level: Level, name: string, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Returns the default log format for an output. */
export const defaultLogFormat = ({ isTTY }: Pick<LineOutput, 'isTTY'>): LogFormat => (isTTY === true ? 'text' : 'json')

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

/** Creates a log that writes one line per event and request. It never throws and never blocks. */
export function createLog(output: LineOutput, options: LogOptions = {}): Log {
  const { level: chosen = 'info', format = defaultLogFormat(output), routeOf = () => undefined } = options
  const asLine = (record: LogRecord): string => lineOf[format](record, isoTime())
  const dropped = (count: number): string =>
    asLine({
      level: 'warn',
      name: 'log_lines_dropped',
      message: `${count} log lines were dropped because the output did not accept them`,
      fields: [['grantry.count', count]],
    })
  const writer = createLineWriter(output, dropped)
  return {
    format,
    observe(event) {
      const level = levelOf(event)
      if (isLogged(level, chosen)) writer.write(asLine(recordOf(event, level, routeOf)))
    },
    write(level, name, message, fields = {}) {
      if (isLogged(level, chosen)) writer.write(asLine({ level, name, message, fields: Object.entries(fields) }))
    },
    get dropped() {
      return writer.dropped
    },
    end: (milliseconds) => writer.end(milliseconds),
  }
}
