// Mutual TLS of the ready server on each runtime, directly and behind nginx.
import { afterAll, beforeAll, describe } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { testMtlsFlows } from '../mtls/flows.ts'
import { type CertificateSource, writeMtlsSetting } from '../mtls/setting.ts'
import { describeWithNginx, startNginx } from '../server/nginx.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { readyServerProgram } from './ready-server.ts'

const bun = [runtimeExecutable('.bin/bun')]
const deno = [runtimeExecutable('.bin/deno'), 'run', '--allow-all', '--no-config', '--no-lock']

/** Starts the server and, if certificates come from a proxy, nginx in front of it. */
function startBefore([command = '', ...parameters]: readonly string[], source: CertificateSource): () => string {
  let issuer = ''
  let server: Program | undefined
  let stopNginx: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const port = await reservedPort()
    issuer = `https://127.0.0.1:${port}`
    const { file, directory } = await writeMtlsSetting(issuer, source)
    const ownPort = source === 'tls' ? port : 0
    server = await startProgram(command, [...parameters, await readyServerProgram(), file, String(ownPort)])
    if (source === 'proxy') stopNginx = await startNginx(directory, port, server.port)
  })
  afterAll(async () => {
    await stopNginx?.()
    await server?.stop()
  })
  return () => issuer
}

describe('the ready server with tls', () => {
  describe('on Node.js', () => testMtlsFlows(startBefore([process.execPath], 'tls')))
  describeWithRuntime('on Bun', bun[0] ?? '', () => testMtlsFlows(startBefore(bun, 'tls')))
  describeWithRuntime('on Deno', deno[0] ?? '', () => testMtlsFlows(startBefore(deno, 'tls')))
})

describeWithNginx('the ready server behind nginx', () => {
  describe('on Node.js', () => testMtlsFlows(startBefore([process.execPath], 'proxy')))
  describeWithRuntime('on Bun', bun[0] ?? '', () => testMtlsFlows(startBefore(bun, 'proxy')))
  describeWithRuntime('on Deno', deno[0] ?? '', () => testMtlsFlows(startBefore(deno, 'proxy')))
})
