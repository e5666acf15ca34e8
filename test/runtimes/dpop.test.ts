// DPoP with nonces in the ready server on each runtime, whose own cryptography verifies the proofs: directly, and behind
// nginx, where the server knows its URL from the issuer only. test/interop does it in the process of the tests.
import { afterAll, beforeAll, describe } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { testFlows } from '../dpop/flows.ts'
import { testOauth4webapiFlows } from '../dpop/oauth4webapi-dpop-flows.ts'
import { fetchWith } from '../mtls/https.ts'
import { describeWithNginx, startNginx } from '../server/nginx.ts'
import { bundle } from '../support/bundle.ts'
import { sharedDirectory } from '../support/directory.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

// Once for all.
let program: Promise<string> | undefined

const runtimes = [
  ['Node.js', process.execPath, []],
  ['Bun', runtimeExecutable('.bin/bun'), []],
  ['Deno', runtimeExecutable('.bin/deno'), ['run', '--allow-all', '--no-config', '--no-lock']],
] as const

for (const [name, command, parameters] of runtimes) {
  const start = async (...more: readonly string[]): Promise<Program> => {
    program ??= bundle(new URL('./programs/dpop-server.ts', import.meta.url))
    return startProgram(command, [...parameters, await program, ...more])
  }

  describeWithRuntime(`DPoP with nonces and the ready server on ${name}`, command, () => {
    let server: Program
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server?.stop())
    const issuer = () => `http://127.0.0.1:${server.port}`

    describe('openid-client', () => testFlows(issuer, true))
    describe('oauth4webapi', () => testOauth4webapiFlows(issuer, true))
  })

  describeWithNginx(`DPoP with nonces and the ready server on ${name} behind nginx`, () => {
    describeWithRuntime(name, command, () => {
      let issuer = ''
      let server: Program
      let stopNginx: () => Promise<void>
      beforeAll(async () => {
        const port = await reservedPort()
        issuer = `https://127.0.0.1:${port}`
        server = await start(issuer)
        stopNginx = await startNginx(sharedDirectory('nginx'), port, server.port)
      })
      afterAll(async () => {
        await stopNginx?.()
        await server?.stop()
      })

      describe('openid-client', () => testFlows(() => issuer, true, fetchWith(undefined)))
      describe('oauth4webapi', () => testOauth4webapiFlows(() => issuer, true, fetchWith(undefined)))
    })
  })
}
