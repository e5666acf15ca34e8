import { type Command, InvalidArgumentError, Option } from 'commander'
import { logLevels } from '../observability/level.ts'
import { logFormats } from '../observability/log-formats.ts'
import { configOption } from '../opening/command-options.ts'
import { version } from '../version.ts'
import { type ServeArguments, serveCommand } from './serve.ts'

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}

export function addServeCommand(grantry: Command): void {
  grantry
    .command('serve')
    .description('run the server, or the demo if there is no configuration')
    .option(...configOption)
    .addOption(
      new Option('-p, --port <number>', 'port to listen on (default: the port of a loopback issuer, otherwise 8484)')
        .env('PORT')
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .addOption(new Option('--log-level <level>', 'lowest level to log (default: info)').choices(logLevels))
    .addOption(
      new Option('--log-format <format>', 'log format (default: text on a terminal, otherwise json)').choices(
        logFormats,
      ),
    )
    .option('--pid-file <file>', 'file for the process id, beside which a socket accepts grantry reload')
    .option('--watch', 'read the configuration again when its files change')
    .action((options: ServeArguments) => serveCommand(options, version))
}
