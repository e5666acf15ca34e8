import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Provider, ProviderEvent } from '@grantry/core'
import { banner } from '../banner.ts'
import { findConfiguration, type LoadedConfiguration, loadConfiguration } from '../configuration/load.ts'
import { withAllProblems } from '../doctor/all-problems.ts'
import { createLog, defaultLogFormat, type Log } from '../log.ts'
import { fileOutput } from '../observability/file-output.ts'
import type { LogLevel } from '../observability/level.ts'
import type { LogFormat } from '../observability/log-formats.ts'
import { openControl } from '../reload/control.ts'
import { rereadConfiguration } from '../reload/reread-configuration.ts'
import { hashOfFiles, watchFiles } from '../reload/watch-files.ts'
import { type GrantryServer, type StartOptions, startServer } from '../server.ts'
import {
  logCrashes,
  logFailure,
  logListening,
  logStopped,
  logStopping,
  logWarnings,
  type WarningPrinters,
} from './serve-log.ts'
import { type ServeSignals, watchSignals } from './serve-signals.ts'
import { silentFailure } from './silent-failure.ts'

export interface ServeArguments {
  readonly config?: string
  readonly host?: string
  readonly port?: number
  readonly logLevel?: LogLevel
  readonly logFormat?: LogFormat
  readonly pidFile?: string
  readonly watch?: boolean
}

/** Seconds to wait for open requests when the server stops. */
const drainTimeout = 10

/** Milliseconds to wait for the last log lines to be written. */
const logFlushTimeout = 1000

interface Run {
  readonly options: ServeArguments
  /** The configuration; the demo if it is absent. */
  readonly loaded: LoadedConfiguration | undefined
  readonly format: LogFormat
  readonly version: string
  readonly signals: ServeSignals
  /** The listeners that printed warnings before the configuration was loaded, which may add others. */
  readonly printers: WarningPrinters
  /** The hash of the files that are watched. */
  readonly watched: string | undefined
}

/** Starts the server. A terminal shows the banner; the log gets the same facts unless it goes to the same terminal. */
async function start({ options, loaded, version }: Run, log: Log, prepared: StartOptions['prepared']) {
  const hasBanner = process.stdout.isTTY === true
  const bannerOnLogTerminal = hasBanner && process.stderr.isTTY === true
  // Warnings before the banner are part of it. Later warnings go to the log.
  let isStarted = false
  const warnings: ProviderEvent[] = []
  const server = await startServer({
    loaded,
    host: options.host,
    port: options.port,
    observe(event) {
      if (event.type === 'startup_warning' && !isStarted) warnings.push(event)
      if (event.type !== 'startup_warning' || !bannerOnLogTerminal || isStarted) log.observe(event)
    },
    version,
    droppedLines: () => log.dropped,
    prepared,
    read: loaded && (() => rereadConfiguration(loaded.file, process.env)),
  })
  if (hasBanner) process.stdout.write(banner(server, warnings, process.env.NO_COLOR === undefined))
  isStarted = true
  if (!bannerOnLogTerminal) logListening(log, server, { loaded, version })
  return server
}

async function serve(run: Run): Promise<void> {
  const { options, loaded, format, signals, printers, watched } = run
  let provider: Provider | undefined
  const log = createLog(fileOutput(process.stderr) ?? process.stderr, {
    level: options.logLevel ?? loaded?.configuration.log.level,
    format,
    routeOf: (endpoint) => provider?.paths[endpoint],
  })
  const forgetCrashes = logCrashes(log)
  const forgetWarnings = logWarnings(log, printers)
  // The process can end in the middle of a turn: after a crash, or because host code calls `process.exit`.
  process.on('exit', log.flush)
  let ended = false
  try {
    await withControl(run, async (started) => {
      const server = await start(run, log, (prepared, configuration) => {
        provider = prepared
        log.level = options.logLevel ?? configuration.log.level
      })
      started(server)
      signals.onReload(() => void server.reload())
      const stopWatching = loaded && watched !== undefined ? watch(server, loaded, watched) : () => {}
      const signal = await signals.stopped
      stopWatching()
      logStopping(log, signal)
      server.beginShutdown()
      // A load balancer keeps sending requests until its next health check. They must not find the port closed.
      await sleep(server.configuration.shutdownDelay * 1000)
      await server.close(drainTimeout)
      logStopped(log, signal)
    })
    ended = true
  } finally {
    forgetCrashes()
    forgetWarnings()
    const written = await log.end(logFlushTimeout)
    // Unread log lines would keep the process alive forever.
    if (ended && !written) process.exit(0)
    process.off('exit', log.flush)
  }
}

const watch = (server: GrantryServer, { file, directory }: LoadedConfiguration, used: string) =>
  watchFiles({
    file,
    directory,
    environment: process.env,
    used,
    current: () => server.configuration,
    reload: server.reload,
  })

/** Runs a server, which commands can reach if it has a pid file. `use` calls its argument when the server has started. */
async function withControl(
  { options: { pidFile }, loaded }: Run,
  use: (started: (server: GrantryServer) => void) => Promise<void>,
): Promise<void> {
  if (pidFile === undefined) return use(() => {})
  let started: (server: GrantryServer) => void = () => {}
  const server = new Promise<GrantryServer>((resolve) => {
    started = resolve
  })
  const control = await openControl({
    pidFile: resolve(pidFile),
    configuration: loaded?.file,
    reload: async () => (await server).reload(),
  })
  try {
    await use(started)
  } finally {
    await control.close()
  }
}

/**
 * Runs `grantry serve` until SIGTERM or SIGINT, or until its terminal is closed.
 *
 * @throws the error that prevented the start if the log is text. If the log is JSON, it is logged at any level, and the
 * thrown error prints nothing.
 */
export async function serveCommand(options: ServeArguments, version = ''): Promise<void> {
  let format = options.logFormat ?? defaultLogFormat(process.stderr)
  const signals = watchSignals()
  const printers = process.listeners('warning')
  let file: string | undefined
  try {
    file = options.config ?? findConfiguration(process.cwd())
    const watched =
      options.watch === true && file !== undefined ? await hashOfFiles(resolve(file), process.env) : undefined
    const loaded = file === undefined ? undefined : await loadConfiguration(file, process.env)
    format = options.logFormat ?? loaded?.configuration.log.format ?? format
    await serve({ options, loaded, format, version, signals, printers, watched })
  } catch (thrown) {
    const cause = file === undefined ? thrown : await withAllProblems(thrown, file, process.env)
    if (format === 'text') throw cause
    const log = createLog(process.stderr, { format })
    logFailure(log, cause)
    await log.end(logFlushTimeout)
    throw silentFailure()
  } finally {
    signals.stopWatching()
  }
}
