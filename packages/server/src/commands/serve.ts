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

const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })

/** `grantry serve`: runs until SIGTERM or SIGINT. */
export async function serveCommand({ config, host, port }: ServeArguments): Promise<void> {
  const file = config ?? findConfiguration(process.cwd())
  const loaded = file === undefined ? undefined : await loadConfiguration(file, process.env)
  const log = createLog(process.stderr)
  const warnings: ProviderEvent[] = []
  const stopped = stopSignal()
  const server = await startServer({
    loaded,
    host,
    port,
    observe: (event) => {
      // A person reads it in the banner; a log that is kept needs it as well.
      if (event.type === 'startup_warning') warnings.push(event)
      if (event.type !== 'startup_warning' || !process.stderr.isTTY) log(event)
    },
  })
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined
  process.stdout.write(banner(server, warnings, colour))
  await stopped
  await server.close(drain)
}
