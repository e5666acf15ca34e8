// 400 reloads in a real process leave its handles, and its heap, as they were (promxy 508: a leak for each reload).
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { linkPackages } from '../support/bundle-with-packages.ts'
import { newDirectory } from '../support/server-program.ts'

const directory = newDirectory()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Counted {
  readonly handles: Readonly<Record<string, number>>
  readonly heap: number
}

test('400 reloads leave handles and heap as they were', async () => {
  await linkPackages(directory)
  const program = await bundle(new URL('../support/programs/reload-often.ts', import.meta.url), {
    outfile: join(directory, 'program.mjs'),
  })
  const child = spawn(process.execPath, ['--expose-gc', program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (text) => {
    out += text
  })
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  const [before, after] = JSON.parse(out) as readonly [Counted, Counted]
  expect(after.handles).toEqual(before.handles)
  // A provider has more than 100 KB: 400 of them would have twice as much.
  expect(after.heap - before.heap).toBeLessThan(20_000_000)
})
