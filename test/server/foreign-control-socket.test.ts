/**
 * Attack: another user of the machine, or a service that was taken over, listens at the socket of a pid file and waits for
 * an administrator who runs `grantry reload`. The socket names the configuration that the command checks, and a check
 * loads the plugins of that configuration: with the rights of the administrator.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openControl } from '../../packages/server/src/reload/control.ts'
import { printed } from './printed.ts'

/** A socket that names a configuration whose plugin leaves a mark when it is loaded. */
async function trap() {
  const home = mkdtempSync(join(tmpdir(), 'grantry-control-'))
  const mark = join(home, 'loaded')
  const plugin = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\nexport default []\n`
  writeFileSync(join(home, 'plugin.mjs'), plugin)
  const configuration = join(home, 'grantry.config.json')
  const content = {
    issuer: 'https://id.example.com',
    clients: [],
    storage: { driver: 'memory' },
    plugins: ['./plugin.mjs'],
  }
  writeFileSync(configuration, JSON.stringify(content))
  const pidFile = join(home, 'grantry.pid')
  const outcome = { reloaded: true, message: 'the configuration was read again\u001B[2J' }
  const server = createServer((caller) => {
    caller.on('error', () => caller.destroy())
    caller.on('data', () => caller.end(`${JSON.stringify(outcome)}\n`))
    caller.write(`${JSON.stringify({ pid: 1, configuration })}\n`)
  })
  await new Promise<void>((resolve) => server.listen(`${pidFile}.sock`, resolve))
  onTestFinished(() => void server.close())
  return { pidFile, isLoaded: () => existsSync(mark) }
}

test('the socket of another user makes the command load no code, and leaves the check to the server', async () => {
  const { pidFile, isLoaded } = await trap()
  const own = process.getuid?.() ?? 0
  const user = vi.spyOn(process, 'getuid').mockReturnValue(own + 1)
  onTestFinished(() => user.mockRestore())
  expect((await printed('reload', '--pid-file', pidFile)).code).toBe(0)
  expect(isLoaded()).toBe(false)
})

test('the outcome that a server sends writes no control characters to the terminal', async () => {
  const { pidFile, isLoaded } = await trap()
  const { out } = await printed('reload', '--pid-file', pidFile)
  expect([out.includes('\u001B'), isLoaded()]).toEqual([false, true])
})

test('a server that is too busy to answer keeps its socket: another one does not start with its pid file', async () => {
  const home = mkdtempSync(join(tmpdir(), 'grantry-control-'))
  const pidFile = join(home, 'grantry.pid')
  const server = createServer((caller) => caller.destroy())
  await new Promise<void>((resolve) => server.listen(`${pidFile}.sock`, resolve))
  onTestFinished(() => void server.close())
  const reload = async () => ({ reloaded: false, message: '' })
  await expect(openControl({ pidFile, configuration: undefined, reload })).rejects.toThrow('cannot be reached')
  expect(existsSync(`${pidFile}.sock`)).toBe(true)
})
