import { isoTime } from './observability/clock.ts'
import { isLogged, type Level, type LogLevel, levelOf } from './observability/level.ts'
import { createLineWriter, type LineOutput, type LineWriter } from './observability/line-writer.ts'
import { type LogFormat, lineOf } from './observability/log-formats.ts'
import { type LogRecord, type RouteOf, recordOf } from './observability/log-record.ts'
import type { ServerObserver } from './observability/server-event.ts'

export interface LogOptions {
  /** The least urgent level that is logged; `info` by default. */
  readonly level?: LogLevel | undefined
  /** By default `text` on a terminal, and `json` everywhere else. */
  readonly format?: LogFormat | undefined
  /** For `http.route`. */
  readonly routeOf?: RouteOf
}

/** A log of events and of what the server itself does. */
export interface Log extends Pick<LineWriter, 'dropped' | 'end'> {
  readonly format: LogFormat
  readonly observe: ServerObserver
  /** Logs what no event tells, under this name. */
  write(level: Level, name: string, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** The format of a log that is written here, unless the operator has chosen one. */
export const usualFormat = ({ isTTY }: Pick<LineOutput, 'isTTY'>): LogFormat => (isTTY === true ? 'text' : 'json')

/** A log with one line for each event and each request. It never throws and never waits. */
export function createLog(output: LineOutput, options: LogOptions = {}): Log {
  const { level: chosen = 'info', format = usualFormat(output), routeOf = () => undefined } = options
  const asLine = (record: LogRecord): string => lineOf[format](record, isoTime())
  const dropped = (count: number): string =>
    asLine({
      level: 'warn',
      name: 'log_lines_dropped',
      message: `${count} lines of the log were lost: its reader did not take them`,
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
