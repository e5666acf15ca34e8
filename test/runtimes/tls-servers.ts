import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import type { TlsSettings } from '@grantry/adapters/node'
import { afterAll, beforeAll } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { authority, certificate, commonName, type Issued } from '../mtls/certificates.ts'
import { current, fetchWith, root, serverCertificate, signedByRoot } from '../mtls/https.ts'
import { bundle } from '../support/bundle.ts'
import { sharedDirectory } from '../support/directory.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { describeSideBySide } from '../support/side-by-side.ts'

const bun = runtimeExecutable('.bin/bun')
const deno = runtimeExecutable('.bin/deno')
const runtimes = [
  {
    name: 'Node.js',
    command: [process.execPath],
    defineSuite: (define: () => void) => describeSideBySide('Node.js', define),
  },
  { name: 'Bun', command: [bun], defineSuite: (define: () => void) => describeWithRuntime('Bun', bun, define) },
  {
    name: 'Deno',
    command: [deno, 'run', '--allow-all', '--no-config', '--no-lock'],
    defineSuite: (define: () => void) => describeWithRuntime('Deno', deno, define),
  },
]

export const settingsOf = ({ pem, keyPem }: Issued): TlsSettings => ({ certificate: pem, key: keyPem })
export const settings = { ...settingsOf(serverCertificate), requestCertificates: true, clientAuthorities: root.pem }
export const otherRoot = certificate({ subject: commonName('Other root'), extensions: authority, ...current })

export const signed = signedByRoot({ subject: commonName('machine') })
export const forged = certificate({ subject: commonName('machine'), ...current })
export const byOther = certificate({ by: otherRoot, subject: commonName('machine'), ...current })

export interface Seen {
  readonly clientAddress?: string
  readonly clientCertificate?: { readonly der: string; readonly verified: boolean }
  readonly refused: readonly number[]
}

export const agentOf = (options: object = {}): Agent =>
  new Agent({ keepAlive: false, maxCachedSessions: 0, ...options })

export async function get(port: number, issued?: Issued, agent: Agent = agentOf(), path = '/'): Promise<Seen> {
  const response = await fetchWith(issued, agent)(`https://127.0.0.1:${port}${path}`)
  return (await response.json()) as Seen
}

export const update = async (port: number, tls: TlsSettings): Promise<number> => {
  const url = `https://127.0.0.1:${port}/update`
  return (await fetchWith(undefined, agentOf())(url, { method: 'POST', body: JSON.stringify(tls) })).status
}

/** A server of the tests, and how to start others. */
export interface TlsServers {
  /** The name of the runtime. */
  readonly name: string
  /** The port of a server with `settings`. */
  port(): number
  /** Starts a server. Its runtime trusts the other root as it trusts public authorities. */
  start(options: object): Promise<Program>
}

/** Defines the same tests for each runtime. */
export function describeTlsServers(define: (servers: TlsServers) => void): void {
  for (const { name, command, defineSuite } of runtimes) {
    defineSuite(() => {
      const directory = sharedDirectory('tls')
      const running: Program[] = []
      let program = ''
      let port = 0

      async function start(options: object): Promise<Program> {
        const file = join(directory, `${name}-${running.length}.json`)
        writeFileSync(file, JSON.stringify(options))
        const trusted = join(directory, 'other-root.pem')
        writeFileSync(trusted, otherRoot.pem)
        const [executable = '', ...parameters] = command
        const environment = [`NODE_EXTRA_CA_CERTS=${trusted}`, `DENO_CERT=${trusted}`]
        const server = await startProgram('env', [...environment, executable, ...parameters, program, file])
        running.push(server)
        return server
      }
      beforeAll(async () => {
        program = await bundle(new URL('./programs/tls-server.ts', import.meta.url))
        port = (await start({ tls: settings })).port
      })
      afterAll(() => Promise.all(running.map((server) => server.stop())))
      define({ name, port: () => port, start })
    })
  }
}
