// The ready server with the plugin `dpop`, on the runtime that runs this program. It requires nonces.
import process from 'node:process'
import { startDpopServer } from '../../interop/dpop-server.ts'

const { port } = await startDpopServer(true)
process.stdout.write(`listening on ${port}\n`)
