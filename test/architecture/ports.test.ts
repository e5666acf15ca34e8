// A port that was free a moment ago may be taken when a program listens on it. So a program listens on port 0, or it
// gets a port of the reserve, which no other process takes.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPortReserve } from '../support/port-reserve.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { everyProgram, type Source } from './source-files.ts'

const forbidden: Readonly<Record<string, RegExp>> = {
  'asks for a free port': /\b(?:free|get|find|pick|unused|available)-?ports?\b|\bportfinder\b/iu,
  // Within one function: listens, closes, and returns the port.
  'listens on a fixed port': /\blisten\(\s*(?:\{\s*port:\s*)?[1-9]\d*\b/u,
  'returns the port of a closed server':
    /\blisten\(0\b(?:(?!\n\}).)*?\bclose\((?:(?!\n\}).)*?\n *return [^\n`]*\bport\b/su,
}
const self = 'test/architecture/ports.test.ts'

const violations = (sources: readonly Source[], rule: string): readonly string[] =>
  sources.filter(({ path, text }) => path !== self && forbidden[rule]?.test(text)).map(({ path }) => path)

describe('programs and tests', () => {
  test.each(Object.keys(forbidden))('no file %s', (rule) => {
    expect(everyProgram.length).toBeGreaterThan(700)
    expect(violations(everyProgram, rule)).toEqual([])
  })

  test.each([
    ['asks for a free port', 'const port = await freePort()'],
    ['listens on a fixed port', "createServer().listen(7070, '127.0.0.1')"],
    ['listens on a fixed port', 'server.listen({ port: 7070 })'],
    ['asks for a free port', "import getPort from 'get-port'"],
    [
      'returns the port of a closed server',
      'async function a() {\n  const s = createServer().listen(0)\n  const { port } = s.address()\n  s.close()\n  return port\n}\n',
    ],
    [
      'returns the port of a closed server',
      "async function a() {\n  s.listen(0, '127.0.0.1')\n  await new Promise((done) => s.close(done))\n  return s.address().port\n}\n",
    ],
  ])('the check finds a file that %s', (rule, text) => {
    expect(violations([{ path: 'test/a.ts', text }], rule)).toEqual(['test/a.ts'])
  })
})

describe('the reserve of ports', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'grantry-ports-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  /** Consecutive ports, and locks that contain these pids. */
  async function reserveOf(...pids: readonly (number | undefined)[]) {
    const first = await reservedPort()
    for (const [index, pid] of pids.entries()) {
      if (pid !== undefined) writeFileSync(join(directory, String(first + index)), String(pid))
    }
    return { first, reserve: createPortReserve({ directory, first, last: first + pids.length - 1 }) }
  }
  // The kernel gives no process a greater one than 4,194,304.
  const dead = 4_194_305

  test('gives each port once, and says when there is none left', async () => {
    const { first, reserve } = await reserveOf(undefined)
    const reservations = await Promise.allSettled([reserve.reserve(), reserve.reserve()])
    expect(reservations).toMatchObject([
      { value: first },
      { reason: { message: expect.stringContaining('are taken') } },
    ])
  })

  test('takes the lock of a process that is gone, and no other', async () => {
    const { first, reserve } = await reserveOf(process.ppid, dead)
    expect(await reserve.reserve()).toBe(first + 1)
    expect(readFileSync(join(directory, String(first + 1)), 'utf8')).toBe(String(process.pid))
    await expect(reserve.reserve()).rejects.toThrow('are taken')
    expect(readdirSync(directory).sort()).toEqual([String(first), String(first + 1)])
  })

  test('keeps a lock whose pid is not written yet', async () => {
    const { first, reserve } = await reserveOf(undefined)
    writeFileSync(join(directory, String(first)), '')
    await expect(reserve.reserve()).rejects.toThrow('are taken')
  })

  test('of several that find an abandoned lock, one takes it', async () => {
    const { first } = await reserveOf(dead)
    const options = { directory, first, last: first }
    const reservations = await Promise.allSettled(Array.from({ length: 5 }, () => createPortReserve(options).reserve()))
    expect(reservations.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('skips a port on which another program listens', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await expect(createPortReserve({ directory, first: port, last: port }).reserve()).rejects.toThrow('are taken')
    await new Promise((resolve) => server.close(resolve))
  })

  test('gives its ports back', async () => {
    const { first, reserve } = await reserveOf(undefined)
    await reserve.reserve()
    reserve.release()
    expect(existsSync(join(directory, String(first)))).toBe(false)
  })

  test('is below the ports that the kernel gives to connections', async () => {
    expect(await reservedPort()).toBeLessThan(32_768)
  })
})
