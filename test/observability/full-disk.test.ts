// A log file on a disk that becomes full, and gets free space later.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { fileOutput } from '../../packages/server/src/observability/file-output.ts'
import { names, parsed, succeeded } from './log-output.ts'

const disk = vi.hoisted(() => ({ free: Number.POSITIVE_INFINITY }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  return {
    ...original,
    writeSync(descriptor: number, text: string) {
      const bytes = Buffer.from(text).subarray(0, disk.free)
      if (bytes.length === 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      disk.free -= bytes.length
      return original.writeSync(descriptor, bytes)
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

const directory = mkdtempSync(join(tmpdir(), 'grantry-log-'))
afterAll(() => rmSync(directory, { recursive: true }))

test('a line of which the disk takes only the start counts as dropped, and tears no other line', async () => {
  const file = join(directory, 'log')
  const fd = openSync(file, 'a')
  const log = createLog(fileOutput({ fd }) ?? expect.unreachable())
  const write = async (requestId: string) => {
    log.observe(succeeded(requestId, { sub: 'ä' }))
    await log.end(0)
  }
  await write('first')
  disk.free = 20
  await write('torn')
  await write('refused')
  disk.free = Number.POSITIVE_INFINITY
  await write('after')
  await write('last')
  closeSync(fd)
  expect(log.dropped).toBe(2)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(5)
  expect(lines[1]).toHaveLength(20)
  const whole = lines.filter((_, index) => index !== 1)
  expect(names(whole)).toEqual(['endpoint_succeeded', 'log_lines_dropped', 'endpoint_succeeded', 'endpoint_succeeded'])
  expect(parsed(whole)[1].msg).toContain('2')
})
