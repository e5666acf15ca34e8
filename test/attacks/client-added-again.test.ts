/**
 * Attack: a client is removed from the configuration file, and later another application gets its id. What was issued to the
 * first one, such as a refresh token that it has kept, works again, and users are not asked, because they have consented. And
 * the other way round: servers that run with different files during a rollout end what belongs to clients that stay.
 */

import { createHash } from 'node:crypto'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { storeGrant } from '@grantry/testing'
import { hashPassword } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import { clientOf, loadedOf, type Running, redirectUri, run } from '../reload/running.ts'

const minutes = 60
const hours = 60 * minutes
const days = 24 * hours

const alice = { sub: 'alice', username: 'alice', password: await hashPassword('alice-password') }

const fileOf = (...ids: readonly string[]) =>
  loadedOf({ clients: ids.map((id) => clientOf(id)), users: [alice], administration: true })
const withOld = () => fileOf('web', 'old')
const without = () => fileOf('web')

type File = ReturnType<typeof loadedOf>

/** Servers with one storage and one clock. */
function service() {
  const store = memoryDriver()
  let failing: string | undefined
  const driver: typeof store = {
    ...store,
    setItem(key, ...more) {
      if (key === failing) throw new Error('connection lost')
      return store.setItem(key, ...more)
    },
  }
  let later = 0
  const now = () => Math.floor(Date.now() / 1000) + later
  const running = new Set<Running>()
  const all: Running[] = []
  const runTasks = async () => {
    for (const server of running) await server.running.current.provider.runTasks()
  }
  const services = {
    driver,
    async start(file: File): Promise<Running> {
      const server = await run(file, driver, { now })
      running.add(server)
      all.push(server)
      await runTasks()
      return server
    },
    async stop(server: Running): Promise<void> {
      running.delete(server)
      await server.running.close()
    },
    async reload(server: Running, file: File): Promise<void> {
      server.next = async () => file
      expect(await server.running.reload()).toMatchObject({ reloaded: true })
      await runTasks()
    },
    /** Lets the servers run. */
    async pass(seconds: number): Promise<void> {
      for (let passed = 0; passed < seconds; passed += 5 * minutes) {
        later += 5 * minutes
        await runTasks()
      }
    },
    /** While no server runs. */
    skip(seconds: number): void {
      later += seconds
    },
    /** The end of this client fails. */
    failFor(clientId: string): void {
      const name = JSON.stringify(['https://id.example.com', 'client', clientId])
      failing = `epoch:${createHash('sha256').update(name).digest('hex')}`
    },
    /** The clients of which everything was revoked. */
    ended: () =>
      all.flatMap(({ events }) =>
        events.flatMap((event) => ('clientId' in event && event.type === 'client_revoked' ? event.clientId : [])),
      ),
    async end(): Promise<void> {
      for (const server of running) await services.stop(server)
    },
  }
  return services
}

type Service = ReturnType<typeof service>

const grant = {
  kind: 'code',
  subject: { sub: 'alice', amr: ['pwd'] },
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUri,
} as const

async function refreshTokenOf(clientId: string, { post, running }: Running): Promise<string> {
  const code = await storeGrant(running.current.provider, { ...grant, clientId })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const response = await post('/connect/token', form, clientId)
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly refresh_token: string }).refresh_token
}

/** Whether a token of the client `old` still works. */
async function works(token: string, { post }: Running): Promise<boolean> {
  const response = await post('/connect/token', { grant_type: 'refresh_token', refresh_token: token }, 'old')
  return response.status === 200
}

describe('a client that was removed from the file and is added again inherits nothing', () => {
  const ways: Record<string, (service: Service, server: Running) => Promise<Running>> = {
    'by reloads': async (service, server) => {
      await service.reload(server, without())
      await service.pass(3 * hours)
      await service.reload(server, withOld())
      return server
    },
    'by restarts': async (service, server) => {
      await service.stop(server)
      const other = await service.start(without())
      await service.pass(3 * hours)
      await service.stop(other)
      return service.start(withOld())
    },
    'as one of two, beside a third': async (service, server) => {
      await service.reload(server, fileOf('web', 'other'))
      await service.pass(3 * hours)
      await service.reload(server, withOld())
      return server
    },
    'a second time': async (service, server) => {
      for (const file of [without(), withOld(), without()]) {
        await service.reload(server, file)
        await service.pass(3 * hours)
      }
      await service.reload(server, withOld())
      return server
    },
    'with another process that is still starting': async (service, server) => {
      await service.reload(server, without())
      await service.pass(1 * hours)
      const other = await service.start(without())
      await service.pass(2 * hours)
      await service.stop(server)
      await service.reload(other, withOld())
      return other
    },
  }

  test.each(Object.entries(ways))('%s', async (_, again) => {
    const servers = service()
    const server = await servers.start(withOld())
    const token = await refreshTokenOf('old', server)
    const kept = await refreshTokenOf('web', server)
    const last = await again(servers, server)
    expect(await works(token, last)).toBe(false)
    expect(servers.ended()).toContain('old')
    expect(servers.ended()).not.toContain('web')
    // The others keep what they have, and the new client gets tokens.
    const form = { grant_type: 'refresh_token', refresh_token: kept }
    expect((await last.post('/connect/token', form)).status).toBe(200)
    expect(await works(await refreshTokenOf('old', last), last)).toBe(true)
    await servers.end()
  })
})

describe('a client that stays keeps what it has', () => {
  const ways: Record<string, (service: Service, server: Running) => Promise<Running>> = {
    'when a wrong file is mended within two hours': async (service, server) => {
      await service.reload(server, without())
      await service.pass(1 * hours)
      await service.reload(server, withOld())
      await service.pass(3 * days)
      return server
    },
    'when a server with an old file starts during a rollout': async (service, server) => {
      const behind = await service.start(without())
      await service.pass(30 * minutes)
      await service.stop(behind)
      await service.pass(3 * days)
      await service.stop(server)
      return service.start(withOld())
    },
    'while servers with two files run for days': async (service, server) => {
      const other = await service.start(without())
      await service.pass(2 * days)
      await service.stop(other)
      await service.start(without())
      await service.pass(1 * days)
      return server
    },
    'after a short run without it, and a long stop': async (service, server) => {
      await service.reload(server, without())
      await service.stop(server)
      service.skip(3 * days)
      return service.start(withOld())
    },
    'when all servers stop while one of them has an old file': async (service, server) => {
      const behind = await service.start(without())
      await service.pass(5 * minutes)
      await service.stop(behind)
      await service.stop(server)
      service.skip(3 * days)
      return service.start(withOld())
    },
    'when the servers cannot compare for hours': async (service, server) => {
      const behind = await service.start(without())
      service.skip(3 * hours)
      await service.pass(20 * minutes)
      await service.stop(behind)
      return server
    },
    'when no server has run for days': async (service, server) => {
      await service.stop(server)
      service.skip(5 * days)
      return service.start(withOld())
    },
    'when it has moved to the storage': async (service, server) => {
      await service.reload(server, without())
      const value = { client: clientOf('old'), tags: [], createdAt: '', changedAt: '' }
      const entries = openEntries({ issuer: 'https://id.example.com', storage: service.driver })
      await entries.create('client', 'old', value)
      await service.pass(3 * hours)
      return server
    },
  }

  test.each(Object.entries(ways))('%s', async (_, wait) => {
    const servers = service()
    const server = await servers.start(withOld())
    const token = await refreshTokenOf('old', server)
    const last = await wait(servers, server)
    expect(servers.ended()).toEqual([])
    expect(await works(token, last)).toBe(true)
    await servers.end()
  })
})

test('an end that fails does not repeat the others', async () => {
  const servers = service()
  const server = await servers.start(fileOf('web', 'old', 'other'))
  servers.failFor('other')
  await servers.reload(server, without())
  await servers.pass(3 * hours)
  expect(servers.ended()).toEqual(['old'])
  await servers.reload(server, withOld())
  const token = await refreshTokenOf('old', server)
  await servers.pass(1 * hours)
  expect(servers.ended()).toEqual(['old'])
  expect(await works(token, server)).toBe(true)
  await servers.end()
})
