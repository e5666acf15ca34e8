import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

const stopSignals = ['SIGTERM', 'SIGINT'] as const
/** SIGHUP stops a server only if its terminal was closed. */
export type StopSignal = (typeof stopSignals)[number] | 'SIGHUP'

/** The signals to a server, from the start of the process to its end. */
export interface ServeSignals {
  /** Resolves with the first signal that stops the server. */
  readonly stopped: Promise<StopSignal>
  /** Calls `reload` for each SIGHUP from now on, and once if one has arrived before. */
  onReload(reload: () => void): void
  stopWatching(): void
}

const hasTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor))

/** Whether the process has no terminal any more. */
function isTerminalGone(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}

/**
 * Listens for signals. It starts before anything else, so that a signal during startup is not lost, and none ends the
 * process by default.
 */
export function watchSignals(): ServeSignals {
  let resolveStopped: (signal: StopSignal) => void = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    resolveStopped = resolve
  })
  let isWaiting = false
  let reload = (): void => {
    isWaiting = true
  }
  const hadTerminal = hasTerminal()
  const listeners = stopSignals.map((signal) => [signal, () => resolveStopped(signal)] as const)
  // A terminal that closes sends the same signal. A server that was started in it would stay without an owner.
  const hungUp = (): void => (hadTerminal && isTerminalGone() ? resolveStopped('SIGHUP') : reload())
  // Each signal is handled once, so that a second one ends a process whose shutdown takes too long.
  for (const [signal, listener] of listeners) process.once(signal, listener)
  process.on('SIGHUP', hungUp)
  return {
    stopped,
    onReload(next) {
      reload = next
      if (isWaiting) next()
    },
    stopWatching() {
      for (const [signal, listener] of listeners) process.off(signal, listener)
      process.off('SIGHUP', hungUp)
    },
  }
}
