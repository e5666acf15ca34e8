/**
 * Password hashes are verified on each runtime, in a bundle without any other file, as the server in one file does: the
 * threads for argon2 and bcrypt need no package and no permission.
 */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startWorker } from '../contract/worker.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { foreignHashes } from '../users/hash-vectors.ts'

async function verifyOn(executable: string, parameters: readonly string[] = []): Promise<void> {
  const program = await bundle(new URL('./programs/foreign-hashes.ts', import.meta.url))
  try {
    const { stdout } = await promisify(execFile)(executable, [...parameters, program], { cwd: dirname(program) })
    expect(JSON.parse(stdout)).toEqual({ verified: Object.keys(foreignHashes).length + 1, failed: [] })
  } finally {
    await rm(dirname(program), { recursive: true })
  }
}

const runtimes: readonly (readonly [string, string, readonly string[]])[] = [
  ['Node.js', process.execPath, []],
  ['Node.js 22', runtimeExecutable('node22/bin/node'), []],
  ['Node.js 24', runtimeExecutable('node24/bin/node'), []],
  ['Bun', runtimeExecutable('.bin/bun'), []],
  ['Deno', runtimeExecutable('.bin/deno'), ['run', '--no-lock', '--no-prompt']],
]

for (const [name, executable, parameters] of runtimes) {
  describeWithRuntime(`password hashes on ${name}`, executable, () => {
    test('of other programs are verified', () => verifyOn(executable, parameters))
  })
}

const workerd = runtimeExecutable('.bin/workerd')

describeWithRuntime('password hashes on Cloudflare Workers', workerd, () => {
  test('of other programs are verified, without threads', async () => {
    const worker = await startWorker(workerd, new URL('./programs/foreign-hashes-worker.ts', import.meta.url), [
      'nodejs_compat',
    ])
    try {
      const response = await fetch(`http://127.0.0.1:${worker.port}/`)
      expect(await response.json()).toEqual({ verified: Object.keys(foreignHashes).length + 1, failed: [] })
    } finally {
      await worker.stop()
    }
  })
})
