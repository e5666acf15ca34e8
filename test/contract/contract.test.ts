import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange } from './answer.ts'
import { cases } from './cases.ts'
import type { Program } from './program.ts'
import { runCase } from './run-case.ts'
import { type ContractRuntime, runtimes } from './runtimes.ts'
import { bytesOf } from './wire-request.ts'

// The same requests, byte for byte, on every runtime; and the same answers.

function contract({ start, deviations = {} }: ContractRuntime): void {
  let program: Program
  beforeAll(async () => {
    program = await start()
  }, 60_000)
  afterAll(() => program?.stop())

  test.each(cases)('$name', (contractCase) =>
    runCase(
      contractCase,
      (request) => exchange(program.port, bytesOf(request, `127.0.0.1:${program.port}`)),
      deviations[contractCase.name]?.expect,
    ),
  )

  test('nothing was written to the console', () => {
    expect(program.console()).toBe('')
  })
}

for (const runtime of runtimes) {
  const missing = !existsSync(runtime.executable)
  const sentence = `${runtime.name} ${runtime.version} is not installed: npm run runtimes`
  if (missing && process.env.CI === 'true') {
    test(runtime.name, () => {
      throw new Error(sentence)
    })
    continue
  }
  if (missing) console.warn(`Left out: ${sentence}`)
  describe.skipIf(missing)(runtime.name, () => contract(runtime))
}
