// A configuration that this user cannot read must not count as missing: the demo would start instead.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readEnvironmentFile } from '../../packages/server/src/configuration/environment-file.ts'
import { findConfiguration } from '../../packages/server/src/configuration/load.ts'
import { printed } from './printed.ts'

// Root can read everything, so the error of the operating system is simulated.
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  const refuseLocked = (path: unknown): void => {
    if (!String(path).includes('/locked/')) return
    throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' })
  }
  return {
    ...original,
    statSync(path: string, ...rest: []) {
      refuseLocked(path)
      return original.statSync(path, ...rest)
    },
    readFileSync(path: string, ...rest: []) {
      refuseLocked(path)
      return original.readFileSync(path, ...rest)
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

const directory = mkdtempSync(join(tmpdir(), 'grantry-locked-'))
afterAll(() => rmSync(directory, { recursive: true }))
const locked = join(directory, 'locked')
mkdirSync(locked)
writeFileSync(join(locked, 'grantry.config.json'), '{}')

const sentence = (name: string) => `cannot read ${join(locked, name)} (EACCES); grant this user read access`

test('reports a configuration that cannot be read as unreadable, not as absent', async () => {
  const { code, err } = await printed('keys', 'list', '--config', join(locked, 'grantry.config.json'))
  expect([code, err]).toEqual([1, `grantry: ${sentence('grantry.config.json')}\n`])
})

test('does not start the demo or lose variables if the directory is not searchable', () => {
  expect(() => findConfiguration(locked)).toThrow(sentence('grantry.config.json'))
  expect(() => readEnvironmentFile(locked)).toThrow(sentence('grantry.env'))
})
