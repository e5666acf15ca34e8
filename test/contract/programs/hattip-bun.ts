import { hattipHandler } from '@grantry/adapters/hattip'
import bunAdapter from '@hattip/adapter-bun'
import { contractProvider } from '../provider.ts'

interface Bun {
  serve(options: object): { readonly port: number; stop(closeActiveConnections: boolean): void }
}

const { Bun } = globalThis as unknown as { readonly Bun: Bun }
const options: object = bunAdapter(hattipHandler(await contractProvider()))
const server = Bun.serve({ ...options, port: 0, hostname: '127.0.0.1', development: false })
process.once('SIGTERM', () => server.stop(true))
process.stdout.write(`listening on ${server.port}\n`)
