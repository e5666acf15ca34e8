// A configuration that this user may not see is not one that is absent: without it, the demo would start.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readEnvironmentFile } from '../../packages/server/src/configuration/environment-file.ts'
import { findConfiguration } from '../../packages/server/src/configuration/load.ts'
import { printed } from './printed.ts'

// Root may see everything, so the refusal of the operating system is made here.
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  return {
    ...original,
    statSync(path: string, ...rest: []) {
      if (!path.includes('/locked/')) return original.statSync(path, ...rest)
      throw Object.assign(new Error(`EACCES: permission denied, stat '${path}'`), { code: 'EACCES' })
    },
  }
})

const directory = mkdtempSync(join(tmpdir(), 'grantry-locked-'))
afterAll(() => rmSync(directory, { recursive: true }))
const locked = join(directory, 'locked')
mkdirSync(locked)
writeFileSync(join(locked, 'grantry.config.json'), '{}')

const sentence = (name: string) => `${join(locked, name)} cannot be read (EACCES); let this user read it`

test('reports a configuration that cannot be read as unreadable, not as absent', async () => {
  const { code, err } = await printed('keys', 'list', '--config', join(locked, 'grantry.config.json'))
  expect([code, err]).toEqual([1, `grantry: ${sentence('grantry.config.json')}\n`])
})

test('a directory that cannot be searched starts no demo, and loses no variable', () => {
  expect(() => findConfiguration(locked)).toThrow(sentence('grantry.config.json'))
  expect(() => readEnvironmentFile(locked)).toThrow(sentence('grantry.env'))
})
