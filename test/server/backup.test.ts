// grantry backup: a copy of the SQLite file of a running server, with which another one continues.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { base, directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'

let count = 0
function newFile(): string {
  count += 1
  return join(base, `backup-${count}.db`)
}

test('copies the storage of a running server', async () => {
  const path = file({ driver: 'sqlite', file: newFile() })
  const running = await serve(path)
  const issued = await running.login()
  const target = newFile()
  const { code, out, err } = await printed('backup', target, '--config', path)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(`Wrote ${target} (sqlite: `)
  expect(statSync(target).mode & 0o077).toBe(0)

  const restored = await serve(file({ driver: 'sqlite', file: target }))
  expect(await restored.isActive(issued.access_token)).toBe(true)
  expect(await restored.refresh(issued.refresh_token)).toBe(200)
  // The servers have separate files now.
  expect(await running.refresh(issued.refresh_token)).toBe(200)
})

test('does not overwrite a file', async () => {
  const path = file({ driver: 'sqlite', file: newFile() })
  const target = newFile()
  await printed('backup', target, '--config', path)
  const before = statSync(target).mtimeMs
  expect(await printed('backup', target, '--config', path)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining(`${target} exists; name a new file for the backup`),
  })
  expect(statSync(target).mtimeMs).toBe(before)
})

test.each([
  [directories(), 'copy it while the servers are stopped'],
  [{ driver: 'memory' }, 'which only the server process can access'],
  [{ driver: 'redis', url: 'redis://127.0.0.1:1' }, 'use the snapshots of Redis'],
  [{ driver: 'postgresql', url: 'postgresql://127.0.0.1:1/x' }, 'use pg_dump'],
])('says what to do for %j', async (storage, advice) => {
  expect(await printed('backup', newFile(), '--config', file(storage))).toMatchObject({
    code: 1,
    err: expect.stringContaining(advice),
  })
})
