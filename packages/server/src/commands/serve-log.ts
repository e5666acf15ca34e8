import type { LoadedConfiguration } from '../configuration/load.ts'
import { errorMessage, problemsIn } from '../error-message.ts'
import { urlHost } from '../local-address.ts'
import type { Log } from '../log.ts'
import { exceptionFields } from '../observability/log-record.ts'
import type { GrantryServer } from '../server.ts'
import type { StopSignal } from './serve-signals.ts'

/** Logs the facts and warnings that the banner shows. */
export function logListening(
  log: Log,
  server: GrantryServer,
  { loaded, version }: { readonly loaded: LoadedConfiguration | undefined; readonly version: string },
): void {
  const { provider, running, isDemo, consoleUrl, outboxUrl } = server
  const { host, port } = running
  const warn = (reason: string, message: string): void =>
    log.write('warn', 'startup_warning', message, { 'grantry.reason': reason })
  for (const { reason, message } of server.warnings) warn(reason, message)
  if (isDemo)
    warn(
      'demo',
      'This is the demo: its secrets are public. Create a configuration for your own server with grantry init',
    )
  // Logged last: a program that waits for this line has already read the warnings.
  log.write('info', 'server_listening', `listening on ${urlHost(host)}:${port} for ${provider.issuer}`, {
    'service.name': 'grantry',
    'service.version': version,
    'server.address': host,
    'server.port': port,
    'process.pid': process.pid,
    'grantry.issuer': provider.issuer,
    'grantry.configuration': loaded?.file ?? 'demo',
    'grantry.storage': server.storage,
    'grantry.keys': server.keys,
    'grantry.metrics': server.metrics,
    'grantry.console': consoleUrl ?? 'off',
    ...(outboxUrl !== undefined && { 'grantry.outbox': outboxUrl }),
    'grantry.plugins': server.plugins,
  })
}

export function logStopping(log: Log, signal: StopSignal): void {
  log.write('info', 'server_stopping', `stopping on ${signal}`, { 'grantry.signal': signal })
}

export function logStopped(log: Log, signal: StopSignal): void {
  log.write('info', 'server_stopped', `stopped on ${signal}`, { 'grantry.signal': signal })
}

/** Returns the code of the innermost error that has one (`EADDRINUSE`), or else the name of the error. */
function errorType(thrown: unknown): string {
  let type = thrown instanceof Error ? thrown.name : typeof thrown
  for (let each: unknown = thrown; each instanceof Error; each = each.cause) {
    const { code } = each as { readonly code?: unknown }
    if (typeof code === 'string') type = code
  }
  return type
}

/** Logs why the server did not start, with a line for each mistake in its configuration, or stopped without a signal. */
export function logFailure(log: Log, thrown: unknown): void {
  for (const problem of problemsIn(thrown))
    log.write('error', 'server_failed', problem, { 'error.type': errorType(thrown) })
}

/**
 * Logs uncaught exceptions as JSON until the returned function is called. Node.js prints the stack trace and exits as
 * usual, so a text log does not need the line.
 */
export function logCrashes(log: Log): () => void {
  if (log.format === 'text') return () => {}
  const onCrash = (thrown: unknown, origin: string): void => {
    log.write('error', 'server_crashed', `${origin}: ${errorMessage(thrown)}`, exceptionFields(thrown))
  }
  process.on('uncaughtExceptionMonitor', onCrash)
  return () => process.off('uncaughtExceptionMonitor', onCrash)
}

/** The listeners of the runtime that print the warnings of a process. */
export type WarningPrinters = readonly ((warning: Error) => void)[]

/**
 * Logs the warnings of the process (`process.emitWarning`) in place of `printers`, which write lines that are not part of
 * the log, until the returned function is called.
 */
export function logWarnings(log: Log, printers: WarningPrinters): () => void {
  const onWarning = (warning: Error & { readonly code?: unknown }): void => {
    const { name, code, message } = warning
    log.write('warn', 'server_warned', message, { 'error.type': typeof code === 'string' ? code : name })
  }
  for (const printer of printers) process.off('warning', printer)
  process.on('warning', onWarning)
  return () => {
    process.off('warning', onWarning)
    for (const printer of printers) process.on('warning', printer)
  }
}
