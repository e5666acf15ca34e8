/**
 * The faster functions of an adapter behave like the web standards, in every byte and every rejection, on each runtime
 * that has them.
 */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

async function compareOn(adapter: string, executable: string, parameters: readonly string[] = []): Promise<void> {
  const program = await bundle(new URL(`./programs/differential-${adapter}.ts`, import.meta.url))
  try {
    const { stdout } = await promisify(execFile)(executable, [...parameters, program])
    const { differences, compared } = JSON.parse(stdout) as { differences: string[]; compared: number }
    expect(differences).toEqual([])
    expect(compared).toBeGreaterThan(1000)
  } finally {
    await rm(dirname(program), { recursive: true })
  }
}

const same = 'its functions behave like those of the web'

describe('nodeRuntime', () => {
  test(same, () => compareOn('node', process.execPath))
})
for (const version of ['22', '24']) {
  const executable = runtimeExecutable(`node${version}/bin/node`)
  describeWithRuntime(`nodeRuntime on Node.js ${version}`, executable, () => {
    test(same, () => compareOn('node', executable))
  })
}
describeWithRuntime('bunRuntime', runtimeExecutable('.bin/bun'), () => {
  test(same, () => compareOn('bun', runtimeExecutable('.bin/bun')))
})
describeWithRuntime('denoRuntime', runtimeExecutable('.bin/deno'), () => {
  test(same, () => compareOn('deno', runtimeExecutable('.bin/deno'), ['run', '--allow-all', '--no-lock']))
})
