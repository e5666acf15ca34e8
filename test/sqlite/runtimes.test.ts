// The SQLite driver passes the conformance kit with the SQLite of each runtime. Node.js 20, which runs the tests, has
// none: there the driver uses the package libsql (test/conformance/drivers.test.ts).
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { runProgram } from '../support/program.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

let script: string
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-sqlite-'))
  script = await bundle(new URL('./programs/conformance.ts', import.meta.url), {
    outfile: join(directory, 'conformance.mjs'),
  })
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const permissions = ['--allow-read', '--allow-write', '--allow-env', '--allow-sys']

const runtimes: readonly (readonly [name: string, executable: string, parameters: readonly string[]])[] = [
  ['Node.js 22', runtimeExecutable('node22/bin/node'), []],
  ['Node.js 24', runtimeExecutable('node24/bin/node'), []],
  ['Bun', runtimeExecutable('.bin/bun'), ['run']],
  ['Deno', runtimeExecutable('.bin/deno'), ['run', '--no-config', ...permissions]],
]

const deno = runtimeExecutable('.bin/deno')
describeWithRuntime('Deno', deno, () => {
  // Without the permission to read owners and parents, Deno would ask for it, or refuse the file.
  test.each<[string, (folder: string) => string, RegExp]>([
    [
      'refuses a parent that all users can write to',
      () => '--allow-read',
      /other users of this machine can write to \S+shared\w+; run chmod o-w/u,
    ],
    [
      'opens a file with the permission for its directory only',
      (folder) => `--allow-read=${folder},${script}`,
      /^sqlite: \d+ passed, 0 failed/u,
    ],
  ])('the SQLite driver on Deno %s', async (_what, read, expected) => {
    const shared = await mkdtemp(join(directory, 'shared'))
    const folder = join(shared, 'own')
    await mkdir(folder, { mode: 0o700 })
    await chmod(shared, 0o777)
    const granted = [read(folder), `--allow-write=${folder}`, '--allow-env', '--allow-sys=uid', '--no-prompt']
    const parameters = ['run', '--no-config', ...granted, script, join(folder, 'grantry.db')]
    const program = runProgram([deno, ...parameters], { cwd: directory })
    await program.ended
    const { out, err } = program.output()
    expect(out + err).toMatch(expected)
  })
})

for (const [name, executable, parameters] of runtimes) {
  describeWithRuntime(name, executable, () => {
    test(`the SQLite driver passes the conformance kit on ${name}`, async () => {
      const file = join(directory, `${name.replace(/\W/gu, '')}.db`)
      const program = runProgram([executable, ...parameters, script, file], { cwd: directory })
      const code = await program.ended
      // No warning that SQLite is experimental.
      expect(program.output()).toEqual({
        out: expect.stringMatching(/^sqlite: \d+ passed, 0 failed, \d+ skipped\n$/u),
        err: '',
      })
      expect(code).toBe(0)
    })
  })
}
