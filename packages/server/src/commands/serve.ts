import { setTimeout as sleep } from 'node:timers/promises'
import type { ProviderEvent } from '@grantry/core'
import { banner } from '../banner.ts'
import { findConfiguration, loadConfiguration } from '../configuration/load.ts'
import { createLog } from '../log.ts'
import { startServer } from '../server.ts'

export interface ServeArguments {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/** Seconds that open requests get when the server is told to stop. */
const drain = 10

/** Milliseconds that the last lines of the log get to find a reader. */
const lastLines = 1000

/** From now on a signal is noticed, also one that comes while the server starts. */
function watchSignals(): { readonly stopped: Promise<void>; forget(): void } {
  let notice: () => void = () => {}
  const stopped = new Promise<void>((resolve) => {
    notice = resolve
  })
  process.once('SIGTERM', notice)
  process.once('SIGINT', notice)
  return {
    stopped,
    forget() {
      process.off('SIGTERM', notice)
      process.off('SIGINT', notice)
    },
  }
}

/** `grantry serve`: runs until SIGTERM or SIGINT. */
export async function serveCommand({ config, host, port }: ServeArguments, version?: string): Promise<void> {
  const file = config ?? findConfiguration(process.cwd())
  const loaded = file === undefined ? undefined : await loadConfiguration(file, process.env)
  const log = createLog(process.stderr)
  const warnings: ProviderEvent[] = []
  const signals = watchSignals()
  let ended = false
  try {
    const server = await startServer({
      loaded,
      host,
      port,
      observe: (event) => {
        // A person reads it in the banner; a log that is kept needs it as well.
        if (event.type === 'startup_warning') warnings.push(event)
        if (event.type !== 'startup_warning' || !process.stderr.isTTY) log.observe(event)
      },
      version,
      droppedLines: () => log.dropped,
    })
    const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined
    process.stdout.write(banner(server, warnings, colour))
    await signals.stopped
    server.leave()
    // A balancer that asks every few seconds still sends requests until it has heard of it; nobody may find the port closed.
    await sleep((loaded?.configuration.shutdownDelay ?? 0) * 1000)
    await server.close(drain)
    ended = true
  } finally {
    signals.forget()
    const written = await log.end(lastLines)
    // Lines that nobody takes would keep the process for ever.
    if (ended && !written) process.exit(0)
  }
}
