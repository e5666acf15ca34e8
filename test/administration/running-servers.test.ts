// Clients that an administrator changes by command while four processes of the server run on one storage.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { printed } from '../server/printed.ts'
import { eventually } from '../support/eventually.ts'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory, serverProgram } from '../support/server-program.ts'

const realServer = new URL('../support/programs/server.ts', import.meta.url)
const issuer = 'https://id.example.com'
const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const secretIn = (out: string): string => /^secret {2}(\S+)$/mu.exec(out)?.[1] ?? ''

interface Service {
  /** Runs `grantry <line>` with the configuration of the servers. */
  command(...line: readonly string[]): Promise<string>
  /** Sends the same request to each process. */
  everywhere<T>(send: (origin: string) => Promise<T>): Promise<readonly T[]>
}

async function startService(storage: object): Promise<Service> {
  const directory = newDirectory()
  closings.push(() => rmSync(directory, { recursive: true, force: true }))
  const configuration = join(directory, 'grantry.config.json')
  // The requests that wait for a change are wrong until then.
  const abuseControl = { enabled: false }
  const scopes = [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }]
  writeFileSync(
    configuration,
    JSON.stringify({ issuer, storage, administration: true, clients: [], scopes, abuseControl }),
    {
      mode: 0o600,
    },
  )
  const program = await serverProgram(realServer, directory)
  const ports = await Promise.all(Array.from({ length: 4 }, reservedPort))
  const fleet: Fleet = createFleet({ program, configuration, ports, directory, environment: {} })
  closings.push(fleet.killAll)
  for (const port of ports) fleet.start(port)
  await Promise.all(ports.map(fleet.ready))
  return {
    async command(...line) {
      const { code, out, err } = await printed(...line, '--config', configuration)
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return out
    },
    everywhere: (send) => Promise.all(ports.map((port) => send(`http://127.0.0.1:${port}`))),
  }
}

async function post(url: string, credentials: Credentials, form: Record<string, string>) {
  const headers = { authorization: basic(credentials) }
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function works(storage: object): Promise<void> {
  const { command, everywhere } = await startService(storage)
  const tokensWith = (secret: string) =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['batch', secret], { grant_type: 'client_credentials', scope: 'api1' }),
    )
  const statusesWith = async (secret: string) => new Set((await tokensWith(secret)).map(({ status }) => status))

  // A process that has been asked for the client before finds it, too.
  expect(await statusesWith('no secret')).toEqual(new Set([401]))
  const secret = secretIn(await command('clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api1'))
  const tokens = await tokensWith(secret)
  expect(new Set(tokens.map(({ status }) => status))).toEqual(new Set([200]))

  const rotated = secretIn(await command('clients', 'rotate-secret', 'batch', '--overlap', '7d'))
  await eventually(async () => expect(await statusesWith(rotated)).toEqual(new Set([200])))
  expect(await statusesWith(secret)).toEqual(new Set([200]))
  const [token] = tokens.map(({ body }) => String(body.access_token))
  const isActive = () =>
    everywhere(async (origin) => {
      const url = `${origin}/connect/introspect`
      return (await post(url, ['api1', 'api1-secret'], { token: token as string })).body.active
    })
  expect(await isActive()).toEqual([true, true, true, true])
  const last = secretIn(await command('clients', 'rotate-secret', 'batch'))
  await command('clients', 'disable', 'batch')
  expect(await isActive()).toEqual([false, false, false, false])
  await eventually(async () => expect(await statusesWith(last)).toEqual(new Set([401])))

  await command('clients', 'enable', 'batch')
  await eventually(async () => expect(await statusesWith(last)).toEqual(new Set([200])))
  expect(await statusesWith(rotated)).toEqual(new Set([401]))
  await command('clients', 'remove', 'batch')
  await eventually(async () => expect(await statusesWith(last)).toEqual(new Set([401])))

  const trail: readonly { action: string }[] = JSON.parse(await command('audit', '--json'))
  expect(trail.map(({ action }) => action)).toEqual([
    'client_removed',
    'client_changed',
    'client_changed',
    'client_secret_rotated',
    'client_secret_rotated',
    'client_added',
  ])
  for (const hidden of [secret, rotated, last, sha256Of(secret), sha256Of(last)]) {
    expect(JSON.stringify(trail)).not.toContain(hidden)
  }
}

async function onNetwork(name: keyof typeof networkStores): Promise<void> {
  const { stop, ...storage } = await networkStores[name]()
  closings.push(stop)
  await works(storage)
}

describe('clients change while four processes run', () => {
  test('on SQLite', () => onNetwork('sqlite'))
  test('on files', () => works({ driver: 'filesystem', directory: './data' }))
})

describeWithPostgresql('clients change while four processes run', () => {
  test('on PostgreSQL', () => onNetwork('postgresql'))
})

describeWithRedis('clients change while four processes run', () => {
  test('on Redis', () => onNetwork('redis'))
})
