// Servers of the tests run on each runtime, some of them reserve a port, and all share one reserve.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

const running: { readonly child: ChildProcess; readonly closed: Promise<unknown> }[] = []
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all(running.map(({ closed }) => closed))
})

const setting = ['21000', '21400'] as const

/** Starts a process that takes ports, and returns them. */
async function portsOf([command = '', ...parameters]: readonly string[], program: string, directory: string) {
  const child = spawn(command, [...parameters, program, directory, ...setting, '40'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  running.push({ child, closed })
  let out = ''
  for await (const chunk of child.stdout) {
    out += chunk
    if (out.endsWith('\n')) break
  }
  return { child, closed, ports: JSON.parse(out) as readonly number[] }
}

const deno = runtimeExecutable('.bin/deno')

for (const [name, command] of [
  ['Node.js', [process.execPath]],
  ['Bun', [runtimeExecutable('.bin/bun')]],
  ['Deno', [deno, 'run', '--allow-all', '--no-config', '--no-lock']],
] as const) {
  const describeHere =
    name === 'Node.js' ? describe : (title: string, run: () => void) => describeWithRuntime(title, command[0], run)
  describeHere(`on ${name}`, () => {
    test('four processes never share a port, and another one takes over what they leave behind', async () => {
      const [program, directory] = [
        await bundle(new URL('./programs/reserve-ports.ts', import.meta.url)),
        mkdtempSync(join(tmpdir(), 'grantry-ports-')),
      ]
      const four = await Promise.all(Array.from({ length: 4 }, () => portsOf(command, program, directory)))
      expect(new Set(four.flatMap(({ ports }) => ports)).size).toBe(160)
      for (const { child, closed } of four) {
        child.kill('SIGKILL')
        await closed
      }
      // 13 times 40 do not fit into 401 ports without those of the processes that are gone.
      const more = await Promise.all(Array.from({ length: 9 }, () => portsOf(command, program, directory)))
      expect(new Set(more.flatMap(({ ports }) => ports)).size).toBe(360)
    })
  })
}
