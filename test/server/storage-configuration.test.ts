import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { configuredStorage } from '../../packages/server/src/configuration/storage/storage-drivers.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { type RunningCommand, startCommand } from './running-command.ts'

let directory: string
let server: RunningCommand | undefined
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'grantry-'))
})
afterEach(async () => {
  await server?.stop('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

const parse = (storage: unknown) =>
  parseConfiguration(configurationSchema, { issuer: 'https://id.example.com', storage, clients: [] }, '').storage

describe('storage in a configuration', () => {
  test.each<[string, unknown, string]>([
    ['no driver', {}, 'storage.driver is required: one of memory, filesystem, sqlite, postgresql, redis'],
    [
      'an unknown driver',
      { driver: 'mysql' },
      'storage.driver must be one of memory, filesystem, sqlite, postgresql, redis; for another store, write a driver and embed the library (docs/guides/custom-driver.md)',
    ],
    ['text', 'memory', 'storage must be an object, not a string'],
    [
      'an option of another driver',
      { driver: 'memory', directory: './data' },
      'storage.directory is not a known option here; known options: driver',
    ],
    [
      'a mistyped option',
      { driver: 'filesystem', direcotry: './data' },
      'storage.direcotry is not a known option; did you mean directory?',
    ],
    [
      'an empty directory',
      { driver: 'filesystem', directory: '' },
      'storage.directory must be the path of a directory',
    ],
    [
      'a mode of SQLite that does not exist',
      { driver: 'sqlite', synchronous: 'off' },
      'storage.synchronous must be "full" or "normal"',
    ],
    [
      'a prefix that is no name',
      { driver: 'sqlite', prefix: 'a"; DROP TABLE b' },
      'storage.prefix must be 1 to 40 lower-case letters, digits and _, the first no digit',
    ],
    ['no database', { driver: 'postgresql' }, 'storage.url is required'],
    [
      'a URL of another database, which can contain a password',
      { driver: 'postgresql', url: 'mysql://root:hunter2@127.0.0.1/db' },
      'storage.url must be a URL such as postgresql://grantry:password@127.0.0.1:5432/grantry; percent-encode special characters of the password, or set storage.password',
    ],
    [
      'a schema that is no name',
      { driver: 'postgresql', url: 'postgresql://127.0.0.1/db', schema: 'Tokens' },
      'storage.schema must be 1 to 40 lower-case letters, digits and _, the first no digit',
    ],
    [
      'a mode of durability that does not exist',
      { driver: 'postgresql', url: 'postgresql://127.0.0.1/db', durability: 'none' },
      'storage.durability must be "full" or "relaxed"',
    ],
    ['no server', { driver: 'redis' }, 'storage must have exactly one of url, cluster and sentinels'],
    [
      'two kinds of server',
      { driver: 'redis', url: 'redis://127.0.0.1:6379', cluster: ['redis://127.0.0.1:6379'] },
      'storage must have exactly one of url, cluster and sentinels',
    ],
    [
      'a URL with another scheme',
      { driver: 'redis', url: 'http://127.0.0.1:6379' },
      'storage.url must be a URL such as redis://127.0.0.1:6379; percent-encode special characters of a password in it, or set storage.password',
    ],
    [
      'a cluster with an invalid URL',
      { driver: 'redis', cluster: ['redis://127.0.0.1:1', 'there'] },
      'storage.cluster[1] must be a URL such as redis://127.0.0.1:6379; percent-encode special characters of a password in it, or set storage.password',
    ],
    [
      'Sentinels without the name of the primary',
      { driver: 'redis', sentinels: [{ host: '127.0.0.1' }] },
      'storage must have sentinels and name together',
    ],
    [
      'a Sentinel given as a URL, which can contain a password',
      { driver: 'redis', sentinels: [{ host: 'redis://:hunter2@127.0.0.1' }], name: 'tokens' },
      'storage.sentinels[0].host must be the host of a Sentinel, not a URL',
    ],
    [
      'an invalid port',
      { driver: 'redis', sentinels: [{ host: '127.0.0.1', port: 70_000 }], name: 'tokens' },
      'storage.sentinels[0].port must be a port from 1 to 65535',
    ],
    [
      'a negative number of replicas',
      { driver: 'redis', url: 'redis://127.0.0.1', waitReplicas: -1 },
      'storage.waitReplicas must be 0 or more',
    ],
    [
      'a time limit of a day',
      { driver: 'redis', url: 'redis://127.0.0.1', operationTimeout: 86_400 },
      'storage.operationTimeout must be 0.05 to 60 seconds',
    ],
  ])('rejects %s with its path', (_what, storage, message) => {
    expect(() => parse(storage)).toThrow(new TypeError(message))
  })

  test.each([
    ['that does not exist', undefined, /^storage\.ca: cannot read \S+ \(ENOENT\)$/u],
    ['that is empty', '', /^storage\.ca: \S+ contains no certificate in PEM; give the file of the authority$/u],
  ])('rejects a file of an authority %s', async (_what, content, message) => {
    if (content !== undefined) await writeFile(join(directory, 'ca.pem'), content)
    const storage = parse({ driver: 'postgresql', url: 'postgresql://grantry@127.0.0.1/id', ca: 'ca.pem' })
    await expect(configuredStorage(storage, directory)).rejects.toThrow(message)
  })

  test('defaults to files next to the configuration', () => {
    expect(parse(undefined)).toEqual({ driver: 'filesystem', directory: './.grantry', fsync: true })
  })

  test.each<[string, unknown, string]>([
    ['memory', { driver: 'memory' }, 'memory: codes and tokens are lost when this process ends'],
    ['files', { driver: 'filesystem', directory: './data' }, 'filesystem: /etc/grantry/data'],
    [
      'files without fsync',
      { driver: 'filesystem', directory: '/var/lib/grantry', fsync: false },
      'filesystem: /var/lib/grantry, without fsync: a power failure can lose the last seconds',
    ],
    ['SQLite', { driver: 'sqlite' }, 'sqlite: /etc/grantry/data/grantry.db'],
    [
      'SQLite without a flush',
      { driver: 'sqlite', file: '/var/lib/grantry.db', prefix: 'id', synchronous: 'normal' },
      'sqlite: /var/lib/grantry.db, prefix id, without a flush for each write: a power failure can lose the last seconds',
    ],
    [
      'PostgreSQL',
      { driver: 'postgresql', url: 'postgresql://grantry:the-password@10.0.0.1:5433/id', durability: 'relaxed' },
      'postgresql: 10.0.0.1:5433/id, table public.grantry_items, where a crash can lose the last writes',
    ],
    [
      'Redis',
      { driver: 'redis', url: 'redis://grantry:the-password@10.0.0.1:6380/2', waitReplicas: 1 },
      'redis: 10.0.0.1:6380, prefix grantry, each write replicated to 1',
    ],
    [
      'a cluster',
      { driver: 'redis', cluster: ['redis://:the-password@10.0.0.1:1', 'redis://10.0.0.2:2'], prefix: 'id' },
      'redis: cluster 10.0.0.1:1, 10.0.0.2:2, prefix id',
    ],
    [
      'Sentinels',
      { driver: 'redis', sentinels: [{ host: '10.0.0.1' }], name: 'tokens', password: 'the-password' },
      'redis: tokens via Sentinels 10.0.0.1:26379, prefix grantry',
    ],
  ])('describes %s without a password', async (_what, storage, description) => {
    const configured = await configuredStorage(parse(storage), '/etc/grantry')
    expect(configured.description).toBe(description)
    await configured.driver.dispose?.()
  })
})

describe.each([
  ['files', undefined, 'filesystem', '.grantry'],
  ['SQLite', { driver: 'sqlite', file: 'data/grantry.db' }, 'sqlite', 'data/grantry.db'],
])('the server on %s', (_what, storage, driver, path) => {
  async function start(port: number): Promise<string> {
    const configuration = {
      issuer: `http://127.0.0.1:${port}`,
      storage,
      clients: [
        {
          clientId: 'web',
          secrets: [{ sha256: sha256Of('web-secret') }],
          grantTypes: ['client_credentials'],
          scopes: ['api1'],
          accessTokenFormat: 'reference',
        },
      ],
      scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
    }
    const file = join(directory, 'grantry.config.json')
    await writeFile(file, JSON.stringify(configuration))
    server = await startCommand(['--config', file])
    return configuration.issuer
  }

  const post = async (url: string, form: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body: new URLSearchParams(form) })).json()

  test('keeps its tokens after it was killed, in files that only its user can read', async () => {
    const port = await reservedPort()
    const issuer = await start(port)
    const client = { client_id: 'web', client_secret: 'web-secret' }
    const issued = await post(`${issuer}/connect/token`, { ...client, grant_type: 'client_credentials', scope: 'api1' })
    expect(server?.output().err).toContain(`"grantry.storage":"${driver}: ${join(directory, path)}"`)
    await server?.stop('SIGKILL')

    await start(port)
    const scope = { client_id: 'api1', client_secret: 'api1-secret' }
    const reported = await post(`${issuer}/connect/introspect`, { ...scope, token: issued.access_token })
    expect(reported).toMatchObject({ active: true, client_id: 'web' })
    expect(await server?.stop()).toBe(0)

    const data = join(directory, path.split('/')[0] ?? '')
    expect((await stat(data)).mode & 0o777).toBe(0o700)
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      expect((await stat(path)).mode & 0o077).toBe(0)
      // No file contains a credential.
      if (entry.isFile()) expect(await readFile(path, 'utf8')).not.toContain(issued.access_token)
    }
  })
})
