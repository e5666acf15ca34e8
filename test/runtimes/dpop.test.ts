// DPoP in the ready server on other runtimes, whose Web Crypto verifies the proofs. test/interop does it on Node.js.
import { afterAll, beforeAll } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { testFlows } from '../interop/dpop-flows.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

// Once for both.
let program: Promise<string> | undefined

const runtimes = [
  ['Bun', '.bin/bun', []],
  ['Deno', '.bin/deno', ['run', '--allow-all', '--no-config', '--no-lock']],
] as const

for (const [name, path, parameters] of runtimes) {
  const executable = runtimeExecutable(path)
  describeWithRuntime(`openid-client with DPoP and the ready server on ${name}`, executable, () => {
    let server: Program
    beforeAll(async () => {
      program ??= bundle(new URL('./programs/dpop-server.ts', import.meta.url))
      server = await startProgram(executable, [...parameters, await program])
    }, 60_000)
    afterAll(() => server?.stop())

    testFlows(() => `http://127.0.0.1:${server.port}`, true)
  })
}
