import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRuntime } from '../support/runtime-describe.ts'
import { addressCases } from './cases/address.ts'
import { cases } from './cases.ts'
import type { ContractCase } from './contract-case.ts'
import type { Program } from './program.ts'
import { exchange } from './response.ts'
import { runCase } from './run-case.ts'
import { type ContractRuntime, runtimes } from './runtimes.ts'
import { bytesOf } from './wire-request.ts'

// Every runtime receives the same request bytes and must return the same responses.

function contract({ start, knowsAddress, deviations = {}, writes = /^$/u }: ContractRuntime): void {
  let program: Program
  beforeAll(async () => {
    program = await start()
  })
  afterAll(() => program?.stop())

  const send = (contractCase: ContractCase) =>
    runCase(
      contractCase,
      (request) => exchange(program.port, bytesOf(request, `127.0.0.1:${program.port}`)),
      deviations[contractCase.name]?.expect,
    )

  for (const contractCase of [...cases, ...(knowsAddress ? addressCases : [])]) {
    test(contractCase.name, () => send(contractCase))
  }

  test('writes nothing unexpected to the console', () => {
    expect(program.console()).toMatch(writes)
  })

  test('exits with 0 when it is stopped', async () => {
    expect(await program.stop()).toBe(0)
  })
}

test('case names are unique, and every deviation names a case', () => {
  const names = [...cases, ...addressCases].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { deviations = {} } of runtimes) expect(names).toEqual(expect.arrayContaining(Object.keys(deviations)))
})

for (const runtime of runtimes) {
  describeWithRuntime(runtime.name, runtime.executable, () => contract(runtime))
}
