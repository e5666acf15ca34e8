import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { printed } from './printed.ts'

// The storage opens, but contains an unreadable file. Clients get "temporarily unavailable"; the operator sees why.

const directory = mkdtempSync(join(tmpdir(), 'grantry-unreadable-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = join(directory, 'grantry.config.json')
const storage = { driver: 'filesystem', directory: './data', fsync: false }
writeFileSync(file, JSON.stringify({ issuer: 'http://127.0.0.1:8484', storage, clients: [] }))

/** Replaces every file of the key ring with a directory, which fails to read even for root. */
async function corruptKeys(): Promise<void> {
  expect((await printed('keys', 'list', '--config', file)).code).toBe(0)
  const names = readdirSync(join(directory, 'data/items'), { recursive: true, encoding: 'utf8' })
  const keys = names.filter((name) => /keys\.[^/]+\/[^/]+$/u.test(name))
  expect(keys.length).toBeGreaterThan(1)
  for (const name of keys) {
    rmSync(join(directory, 'data/items', name))
    mkdirSync(join(directory, 'data/items', name))
  }
}

describe('an unreadable key ring in the storage', () => {
  test.each([
    ['serve', ['serve', '--port', '0']],
    ['keys list', ['keys', 'list']],
    ['revoke', ['revoke', '--client', 'web']],
  ])('is reported by grantry %s in one line', async (_what, line) => {
    await corruptKeys()
    const { code, out, err } = await printed(...line, '--config', file)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: [^\n]*the storage failed: EISDIR[^\n]*\n$/u)
    rmSync(join(directory, 'data'), { recursive: true })
  })

  test('is reported by the doctor', async () => {
    await corruptKeys()
    const { code, out } = await printed('check', '--json', '--config', file)
    expect(code).toBe(1)
    const { findings } = JSON.parse(out)
    expect(findings).toContainEqual(
      expect.objectContaining({ id: 'store-unusable', reason: expect.stringContaining('the storage failed: EISDIR') }),
    )
  })
})
