// The real server: its own command line, from the sources.
import { main } from '../../../packages/server/src/cli.ts'

process.exitCode = await main(process.argv.slice(2))
