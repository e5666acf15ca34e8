// The ready server with the plugin `dpop`, on the runtime that runs this program: the origin of its proxy, if there is
// one. It requires nonces.
import process from 'node:process'
import { startDpopServer } from '../../dpop/server.ts'

const { port } = await startDpopServer(true, process.argv[2])
process.stdout.write(`listening on ${port}\n`)
