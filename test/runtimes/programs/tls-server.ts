// Serves with TLS through the adapter of the runtime that runs this program. The parameter is a file with the options.
// Responses contain what the adapter knows of the client; `/update` replaces the settings of TLS, `/close` stops the server,
// `/slow` responds when it stops, or at `/release`. With `isOfHost`, the server is one of `node:https` with the listener of the adapter.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { nodeListener } from '@grantry/adapters/node'
import type { Handler } from '@grantry/core'
import { adapterOfThisRuntime, type Listening } from '../../../packages/server/src/adapter.ts'
import type { TlsContent } from '../../../packages/server/src/configuration/tls.ts'

const { isOfHost, ...options } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  readonly tls: TlsContent
  readonly isOfHost?: boolean
}
const { serve } = await adapterOfThisRuntime()
const refused: number[] = []
let release = (): void => {}
const isReleased = new Promise<void>((resolve) => {
  release = resolve
})

const fetch: Handler = async (request, connection) => {
  const { pathname } = new URL(request.url)
  if (pathname === '/update') running.updateTls?.((await request.json()) as TlsContent)
  if (pathname === '/close') {
    void running.close(300).then(() => process.stdout.write('closed\n'))
    release()
  }
  if (pathname === '/release') release()
  if (pathname === '/slow') {
    process.stdout.write('slow\n')
    await isReleased
  }
  return Response.json({ ...connection, refused })
}

/** Serves as a host with a server of its own does. */
async function serveOwn({ certificate, key, clientAuthorities }: TlsContent): Promise<Listening> {
  const settings = { cert: certificate, key, ca: clientAuthorities, requestCert: true, rejectUnauthorized: false }
  const server = createServer(settings, nodeListener({ issuer: 'https://id.example.com', fetch }))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, close: async () => void server.close() }
}

const serveHere = (): Promise<Listening> =>
  serve(
    { issuer: 'https://id.example.com', fetch },
    { host: '127.0.0.1', port: 0, trustedProxies: 0, onRefused: ({ status }) => refused.push(status), ...options },
  )

const running = isOfHost ? await serveOwn(options.tls) : await serveHere()
process.stdout.write(`listening on ${running.port}\n`)
