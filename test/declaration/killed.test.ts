// An `apply` whose process is killed in the middle, on each kind of storage.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { sha256Of } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { realServerProgram } from '../support/server-program.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('killed')
const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => machine(`c${String(index).padStart(4, '0')}`))

/** The last secret of each client in a file. */
function secretsIn(file: string): ReadonlyMap<string, string> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return new Map(lines.map((line) => JSON.parse(line)).map(({ id, secret }) => [id, secret]))
}

async function finishes(storage: object): Promise<void> {
  const { file: configuration, out, write } = newService(directory, { storage })
  const program = await realServerProgram()
  const file = write({ clients: numbered(300) })
  const secretsFile = `${configuration}.secrets`
  const line = ['apply', file, '--yes', '--secrets-file', secretsFile, '--config', configuration]
  const child = spawn(process.execPath, [program, ...line], {
    env: { ...process.env, GRANTRY_TEST_PARENT: String(process.pid) },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const readSecrets = () => secretsIn(secretsFile)
  // In the middle: some secrets have been kept, and most have not.
  while (readSecrets().size < 20 && child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => setImmediate(resolve))
  child.kill('SIGKILL')
  await ended
  const kept = readSecrets().size
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThan(300)

  await out('apply', file, '--yes', '--secrets-file', secretsFile)
  const after = await out('export', '--with-hashes')
  expect(await out('apply', file, '--yes')).toContain('Nothing to do')
  expect(await out('export', '--with-hashes')).toBe(after)
  expect(await out('plan', file)).toContain('0 to add, 0 to change, 0 to remove, 300 unchanged')
  // The last secret of each client is the stored one.
  const exported = JSON.parse(after) as {
    readonly clients: readonly { readonly clientId: string; readonly secrets: readonly [{ readonly sha256: string }] }[]
  }
  const secrets = readSecrets()
  expect(exported.clients.map(({ clientId, secrets: [{ sha256 }] }) => [clientId, sha256])).toEqual(
    exported.clients.map(({ clientId }) => [clientId, sha256Of(secrets.get(clientId) ?? '')]),
  )
}

async function onNetwork(name: keyof typeof networkStores): Promise<void> {
  const { stop, ...storage } = await networkStores[name]()
  closings.push(stop)
  await finishes(storage)
}

const title = 'a process that is killed in the middle: running it again finishes it, and no secret is lost'

describe(title, () => {
  test('on files', () => finishes({ driver: 'filesystem', directory: './killed' }))
  test('on SQLite', () => onNetwork('sqlite'))
})

describeWithPostgresql(title, () => {
  test('on PostgreSQL', () => onNetwork('postgresql'))
})

describeWithRedis(title, () => {
  test('on Redis', () => onNetwork('redis'))
})
