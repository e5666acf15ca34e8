import { resolve } from 'node:path'
import type { Command } from 'commander'
import { withoutKeyWrites } from '../doctor/without-key-writes.ts'
import { openConfiguredProvider } from '../opening/open-configuration.ts'
import { askServer, requestReload } from '../reload/control-client.ts'
import { isOwnPlace } from '../reload/control-place.ts'
import { rereadConfiguration } from '../reload/reread-configuration.ts'
import { sanitizeText } from '../sanitize-text.ts'
import { silentFailure } from './silent-failure.ts'

export interface ReloadArguments {
  readonly pidFile: string
  readonly check: boolean
}

/**
 * Lets a running server read its configuration again. If both processes have the same user, this one checks the
 * configuration first. Returns the response of the server.
 *
 * @throws TypeError with a one-line message if the configuration is wrong, no server answers, or other users could
 * answer.
 */
export async function reloadCommand({ pidFile: path, check }: ReloadArguments) {
  const pidFile = resolve(path)
  const { place, greeting } = await askServer(pidFile)
  const { configuration } = greeting
  // The check loads the plugins of the configuration, with the rights of this process.
  if (configuration !== undefined && check && (await isOwnPlace(place))) {
    const loaded = await rereadConfiguration(configuration, process.env)
    // The check creates no keys: the server may refuse the configuration after comparing it with the present one.
    const provider = await openConfiguredProvider(loaded, () => {}, withoutKeyWrites)
    await provider.close()
  }
  return requestReload(place, pidFile)
}

export function addReloadCommand(grantry: Command): void {
  grantry
    .command('reload')
    .description(
      'let a running server read its configuration again; checks it first, and exits with 1 if it is wrong, or if the server refuses it',
    )
    .requiredOption('--pid-file <file>', 'the file that grantry serve --pid-file has written')
    .option('--no-check', 'leave the check to the server: for a shell without its environment variables')
    .action(async (options: ReloadArguments) => {
      const { reloaded, message: sent } = await reloadCommand(options)
      const message = sanitizeText(sent)
      if (reloaded) {
        process.stdout.write(`${message}\n`)
        return
      }
      process.stderr.write(`grantry: ${message}\n`)
      throw silentFailure()
    })
}
