// On a full disk the server is not ready and logs the disk. With free space it is ready again without a restart.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/patient-server.ts'

const disk = vi.hoisted(() => ({ isFull: false, perform: (_sql: string): void => {} }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  return {
    ...original,
    writeFileSync(...args: Parameters<typeof original.writeFileSync>) {
      if (disk.isFull && `${args[0]}`.includes('/data/tmp/')) {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
      }
      return original.writeFileSync(...args)
    },
  }
})
// The limit of a connection: SQLite fails with it as on a full disk.
vi.mock('../../packages/storage-drivers/src/sqlite/engine.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../packages/storage-drivers/src/sqlite/engine.ts')>()
  return {
    ...original,
    loadEngine(): ReturnType<typeof original.loadEngine> {
      const open = original.loadEngine()
      return (path) => {
        const connection = open(path)
        disk.perform = (sql) => void connection.all(sql)
        return connection
      }
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

const directory = mkdtempSync(join(tmpdir(), 'grantry-full-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** What fills the disk, and frees space on it. */
const storages: readonly [storage: object, path: string, setFull: (isFull: boolean) => void, reason: string][] = [
  [
    { driver: 'filesystem', directory: './data', fsync: false },
    'data',
    (isFull) => {
      disk.isFull = isFull
    },
    'ENOSPC',
  ],
  [
    { driver: 'sqlite', file: 'sqlite/grantry.db', synchronous: 'normal' },
    'sqlite/grantry.db',
    (isFull) => disk.perform(`PRAGMA max_page_count = ${isFull ? 1 : 1_000_000}`),
    'SQLITE_FULL',
  ],
]

describe.each(storages)('%j', (storage, path, setFull, reason) => {
  test('is not ready on a full disk, logs which disk, and is ready again with free space', async () => {
    const file = join(directory, 'grantry.config.json')
    const client = { clientId: 'web', secrets: [{ sha256: sha256Of('web-secret') }], scopes: ['api1'] }
    writeFileSync(
      file,
      JSON.stringify({
        issuer: 'http://127.0.0.1:8484',
        storage,
        clients: [{ ...client, grantTypes: ['client_credentials'], accessTokenFormat: 'reference' }],
        scopes: [{ name: 'api1' }],
      }),
    )
    const causes: string[] = []
    const server = await startServer({
      loaded: await loadConfiguration(file, {}),
      port: 0,
      observe: (event) => {
        if (event.type === 'unhandled_failure') causes.push(event.cause.message)
      },
    })
    try {
      const base = `http://127.0.0.1:${server.running.port}`
      const ready = async () => (await fetch(`${base}/health/ready`)).status
      const token = async () => {
        const response = await fetch(`${base}/connect/token`, {
          method: 'POST',
          headers: { authorization: basic(['web', 'web-secret']) },
          body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
        })
        await response.arrayBuffer()
        return response.status
      }
      expect(await ready()).toBe(200)
      setFull(true)
      // SQLite fills the free space of its last page first.
      await eventually(async () => expect(await token()).toBe(503))
      await eventually(async () => expect(await ready()).toBe(503))
      const sentence = `the disk of ${directory}/${path} is full (${reason}); free some space`
      expect(new Set(causes)).toEqual(new Set([expect.stringContaining(sentence)]))
      setFull(false)
      await eventually(async () => expect(await ready()).toBe(200))
      expect(await token()).toBe(200)
    } finally {
      await server.close(0)
    }
  })
})
