// The ready server with a configuration file, on the runtime that runs this program: its path, and the port.
import process from 'node:process'
import { loadConfiguration } from '../../../packages/server/src/configuration/load.ts'
import { startServer } from '../../support/patient-server.ts'

const [file = '', port] = process.argv.slice(2)
const loaded = await loadConfiguration(file, {})
const { running } = await startServer({ loaded, port: Number(port), observe: () => {} })
process.stdout.write(`listening on ${running.port}\n`)
