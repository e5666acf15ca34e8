// A log that goes to a file is written without a stream.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { fileOutput } from '../../packages/server/src/observability/file-output.ts'
import { parsed, succeeded } from './log-output.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-log-'))
afterAll(() => rmSync(directory, { recursive: true }))

test('appends every line to the file', async () => {
  const file = join(directory, 'log')
  const fd = openSync(file, 'a')
  const log = createLog(fileOutput({ fd }) ?? expect.unreachable())
  for (let count = 0; count < 100; count += 1) log.observe(succeeded(`r${count}`, { sub: 'ä' }))
  expect(await log.end(0)).toBe(true)
  closeSync(fd)
  const lines = parsed(readFileSync(file, 'utf8').trimEnd().split('\n'))
  expect(lines.map((line) => line['grantry.request_id'])).toEqual(
    Array.from({ length: 100 }, (_, count) => `r${count}`),
  )
  expect(lines[0]['user.id']).toBe('ä')
})

test('counts the lines that the file does not accept as dropped', async () => {
  const fd = openSync(join(directory, 'read-only'), 'a+')
  const readOnly = openSync(join(directory, 'read-only'), 'r')
  const log = createLog(fileOutput({ fd: readOnly }) ?? expect.unreachable())
  log.observe(succeeded('r'))
  expect(await log.end(0)).toBe(true)
  expect(log.dropped).toBe(1)
  closeSync(readOnly)
  closeSync(fd)
})

test('is not used for a device or a stream without a descriptor', () => {
  const fd = openSync('/dev/null', 'a')
  expect(fileOutput({ fd })).toBeUndefined()
  closeSync(fd)
  expect(fileOutput({})).toBeUndefined()
})
