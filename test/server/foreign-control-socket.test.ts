/**
 * Attack: another user of the machine, or a service that was taken over, listens at the socket of a pid file and waits for
 * an administrator who runs `grantry reload`. The socket names the configuration that the command checks, and a check
 * loads the plugins of that configuration: with the rights of the administrator. A user who can write to the directory
 * replaces the socket for the moment of the greeting, and puts the right one back before anything is compared.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openControl } from '../../packages/server/src/reload/control.ts'
import { isOwnSocket } from '../../packages/server/src/reload/control-place.ts'
import { printed } from './printed.ts'

/** A socket that names a configuration whose plugin leaves a mark when it is loaded. @param onCaller called before the greeting */
async function trap(onCaller: (socket: string) => void = () => {}) {
  const home = join(mkdtempSync(join(tmpdir(), 'grantry-control-')), 'run')
  mkdirSync(home, { mode: 0o700 })
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
    onCaller(`${pidFile}.sock`)
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
  const uid = process.getuid?.() ?? 0
  const user = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  onTestFinished(() => user.mockRestore())
  expect((await printed('reload', '--pid-file', pidFile)).code).toBe(0)
  expect(isLoaded()).toBe(false)
})

test('the outcome that a server sends writes no control characters to the terminal', async () => {
  const { pidFile, isLoaded } = await trap()
  const { out } = await printed('reload', '--pid-file', pidFile)
  expect([out.includes('\u001B'), isLoaded()]).toEqual([false, true])
})

test.each([
  ['its group', 0o775, 'run'],
  ['all users', 0o757, 'run'],
  ['all users, who could take its name when the server ends', 0o1777, 'run'],
  ['its group, to the directory above', 0o770, '.'],
])(
  'a directory that is writable for %s makes the command load no code, and prevents a start',
  async (_, mode, which) => {
    const { pidFile, isLoaded } = await trap((socket) => {
      // What the other user does: the socket in place is the one of this user, when it is compared.
      renameSync(socket, `${socket}.away`)
      renameSync(`${socket}.away`, socket)
    })
    const directory = join(dirname(pidFile), '..', which)
    chmodSync(directory, mode)
    const refusal = expect.stringContaining(`other users can write to ${directory}, and could replace the socket`)
    expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({ code: 1, out: '', err: refusal })
    expect(await printed('reload', '--no-check', '--pid-file', pidFile)).toMatchObject({ code: 1, err: refusal })
    expect(isLoaded()).toBe(false)
    const reload = async () => ({ reloaded: false, message: '' })
    const started = openControl({ pidFile: `${pidFile}2`, configuration: undefined, reload })
    await expect(started).rejects.toThrow(`--pid-file: other users can write to ${directory}`)
  },
)

test('a symbolic link leads to the directory that is checked', async () => {
  const { pidFile, isLoaded } = await trap()
  const link = join(mkdtempSync(join(tmpdir(), 'grantry-control-')), 'link')
  symlinkSync(dirname(pidFile), link)
  chmodSync(dirname(pidFile), 0o770)
  const { err } = await printed('reload', '--pid-file', join(link, 'grantry.pid'))
  expect([err, isLoaded()]).toEqual([expect.stringContaining(`other users can write to ${dirname(pidFile)}`), false])
})

const place = (path: string, uid: number, mode: number) => ({ path, uid, mode })
const ofUser = place('/run/grantry', 7, 0o40_700)
const run = place('/run', 0, 0o40_755)
const socket = place('/run/grantry/grantry.pid.sock', 7, 0o140_600)

test.each([
  ['all of this user and root', socket, [ofUser, run], true],
  ['a directory of root', socket, [place('/run', 0, 0o40_755)], true],
  ['a directory in a sticky one of root', socket, [ofUser, place('/tmp', 0, 0o41_777)], true],
  ['the socket of another user', place(socket.path, 8, 0o140_600), [ofUser, run], false],
  ['the socket of root', place(socket.path, 0, 0o140_600), [ofUser, run], false],
  ['a link of this user', place(socket.path, 7, 0o120_777), [ofUser, run], false],
  ['the directory of another user', socket, [place('/run/grantry', 8, 0o40_755), run], false],
  ['a directory above of another user', socket, [ofUser, place('/home/eve', 8, 0o40_755), run], false],
  ['a sticky directory of another user above', socket, [ofUser, place('/home/eve', 8, 0o41_777), run], false],
  ['a directory that its group can write to', socket, [place('/run/grantry', 7, 0o40_770), run], false],
  ['a sticky directory', socket, [place('/tmp', 0, 0o41_777)], false],
  ['a directory above that others can write to', socket, [ofUser, place('/run', 0, 0o40_777)], false],
])('code is loaded for %s: %#', (_, file, directories, isOwn) => {
  expect(isOwnSocket(file, directories, 7)).toBe(isOwn)
  // Windows has no users to compare.
  expect(isOwnSocket(file, directories, undefined)).toBe(false)
})

test.each([
  ['a greeting without an end', 'x'.repeat(100_000), 'cannot be reached'],
  ['a greeting that is none', '"hello"\n', 'it is no server of Grantry'],
  ['an id of a process with control characters', '{"pid":"\\u001B[2J"}\n', 'it is no server of Grantry'],
])('%s is refused', async (_, greeting, reason) => {
  const home = mkdtempSync(join(tmpdir(), 'grantry-control-'))
  const server = createServer((caller) => void caller.on('error', () => caller.destroy()).write(greeting))
  await new Promise<void>((resolve) => server.listen(join(home, 'grantry.pid.sock'), resolve))
  onTestFinished(() => void server.close())
  const { code, err } = await printed('reload', '--pid-file', join(home, 'grantry.pid'))
  expect([code, err]).toEqual([1, expect.stringContaining(reason)])
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
