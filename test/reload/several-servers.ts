// Servers with files of their own, one storage and one clock: for what depends on the time in which servers run.
import { createHash } from 'node:crypto'
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { storeGrant } from '@grantry/testing'
import { hashPassword } from '@grantry/users/password-hash'
import { expect } from 'vitest'
import { clientOf, loadedOf, type Running, redirectUri, run } from './running.ts'

export const minutes = 60
export const hours = 60 * minutes
export const days = 24 * hours

const alice = { sub: 'alice', username: 'alice', password: await hashPassword('alice-password') }

export const fileOf = (...ids: readonly string[]) =>
  // A write that a test holds must not end by itself on a busy machine.
  loadedOf({ clients: ids.map((id) => clientOf(id)), users: [alice], administration: true, storageTimeLimit: 60 })
export const withOld = () => fileOf('web', 'old')
export const without = () => fileOf('web')

type File = ReturnType<typeof loadedOf>

/** Servers with one storage and one clock. */
export function service() {
  const store = memoryDriver()
  let failing: string | undefined
  let unreadable: string | undefined
  let blocked: { readonly key: string; readonly reached: () => Promise<void> } | undefined
  function written<T>(key: string, write: () => T): T | Promise<T> {
    if (failing !== undefined && key.endsWith(failing)) throw new Error('connection lost')
    if (blocked === undefined || !key.endsWith(blocked.key)) return write()
    const { reached } = blocked
    blocked = undefined
    return reached().then(write)
  }
  const driver: AtomicDriver = {
    ...store,
    getItem(key: string) {
      const value = store.getItem(key)
      if (unreadable !== undefined && String(value).includes(unreadable)) throw new Error('connection lost')
      return value
    },
    setItem: (key, value, options) => written(key, () => store.setItem(key, value, options)),
    insertItem: (key, value, options) => written(key, () => store.insertItem(key, value, options)),
    replaceItem: (key, change) => written(key, () => store.replaceItem(key, change)),
  }
  const epochOf = (clientId: string, issuer: string): string =>
    `epoch:${createHash('sha256')
      .update(JSON.stringify([issuer, 'client', clientId]))
      .digest('hex')}`
  let later = 0
  const now = () => Math.floor(Date.now() / 1000) + later
  // Tenants that were not used are closed by the same clock.
  const runtime = { now, elapsed: () => now() * 1000 }
  const running = new Set<Running>()
  const all: Running[] = []
  const runTasks = async () => {
    for (const server of running) await server.running.runTasks()
  }
  const services = {
    driver,
    runtime,
    runTasks,
    /** @param before called before the first run of the tasks */
    async start(file: File, before?: (server: Running) => Promise<void>): Promise<Running> {
      const server = await run(file, driver, runtime)
      running.add(server)
      all.push(server)
      await before?.(server)
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
    failFor(clientId: string, issuer = 'https://id.example.com'): void {
      failing = epochOf(clientId, issuer)
    },
    /** Calls a function once, directly before the storage ends this client. */
    beforeEndOf(clientId: string, issuer: string, reached: () => Promise<void>): void {
      blocked = { key: epochOf(clientId, issuer), reached }
    },
    /** Reads of records that contain a text fail. */
    failReadsOf(text: string): void {
      unreadable = text
    },
    failNoMore(): void {
      failing = undefined
      unreadable = undefined
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

export type Service = ReturnType<typeof service>

const grant = {
  kind: 'code',
  subject: { sub: 'alice', amr: ['pwd'] },
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUri,
} as const

export async function refreshTokenOf(clientId: string, { post, running }: Running): Promise<string> {
  const code = await storeGrant(running.current.provider, { ...grant, clientId })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const response = await post('/connect/token', form, clientId)
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly refresh_token: string }).refresh_token
}

/** Whether a token of the client `old` still works. */
export async function works(token: string, { post }: Running): Promise<boolean> {
  const response = await post('/connect/token', { grant_type: 'refresh_token', refresh_token: token }, 'old')
  return response.status === 200
}
