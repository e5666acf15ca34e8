// npm does not forward its signals, so `npm start` must notice that its parent has exited, also during the build.

import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'grantry-parent-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const scripts = fileURLToPath(new URL('../../scripts', import.meta.url))

/** A build that ends when the parent has exited. */
const build = `import { writeSync } from 'node:fs'
const { ppid } = process
export function buildIfStale() {
  writeSync(1, 'building\\n')
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let turn = 0; turn < 6000 && process.ppid === ppid; turn++) Atomics.wait(cell, 0, 0, 10)
}`

/** A server that runs until it gets a signal; after a minute it gives up. */
const server = `export const main = () => new Promise((resolve) => setTimeout(() => {
  process.stdout.write('orphaned\\n')
  resolve(0)
}, 60_000))`

test('npm start stops when its parent exits during the build', async () => {
  mkdirSync(join(root, 'scripts'))
  mkdirSync(join(root, 'packages/server/dist'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  for (const name of ['start.js', 'stop-with-parent.js']) copyFileSync(join(scripts, name), join(root, 'scripts', name))
  writeFileSync(join(root, 'scripts/build-if-stale.js'), build)
  writeFileSync(join(root, 'packages/server/dist/cli.js'), server)

  const parent = spawn('sh', ['-c', '"$0" scripts/start.js & read line', process.execPath], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  parent.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (output.includes('building\n')) parent.stdin.end()
  })
  // The script holds this pipe open for as long as it runs.
  await new Promise((resolve) => parent.stdout.once('close', resolve))
  expect(output).toBe('building\n')
})
