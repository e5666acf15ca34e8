// Scopes that an administrator changes by command while four processes of the server run on one storage.
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { post, startService } from './service.ts'

const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const secretIn = (out: string): string => /^secret {2}(\S+)$/mu.exec(out)?.[1] ?? ''

async function works(storage: object): Promise<void> {
  const { command, everywhere } = await startService(storage, closings)
  const scopeSecret = secretIn(await command('scopes', 'add', 'api2', '--audience', 'https://api2', '--secret'))
  const add = ['clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api2']
  const secret = secretIn(await command(...add))
  const tokens = () =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['batch', secret], { grant_type: 'client_credentials', scope: 'api2' }),
    )
  const statuses = async () => new Set((await tokens()).map(({ status }) => status))
  const supported = () =>
    everywhere(async (origin) => {
      const document = (await (await fetch(`${origin}/.well-known/openid-configuration`)).json()) as {
        scopes_supported: readonly string[]
      }
      return document.scopes_supported.includes('api2')
    })
  await eventually(async () => expect(await statuses()).toEqual(new Set([200])))
  expect(await supported()).toEqual([true, true, true, true])

  const [token = ''] = (await tokens()).map(({ body }) => String(body.access_token))
  const introspect = (as: string) =>
    everywhere(async (origin) => {
      const { status, body } = await post(`${origin}/connect/introspect`, ['api2', as], { token })
      return status === 200 ? body.active : status
    })
  expect(await introspect(scopeSecret)).toEqual([true, true, true, true])
  const next = secretIn(await command('scopes', 'rotate-secret', 'api2', '--overlap', '7d'))
  await eventually(async () => expect(await introspect(next)).toEqual([true, true, true, true]))
  expect(await introspect(scopeSecret)).toEqual([true, true, true, true])

  await command('scopes', 'disable', 'api2')
  await eventually(async () => expect(await statuses()).toEqual(new Set([400])))
  expect(await introspect(next)).toEqual([401, 401, 401, 401])
  expect(await supported()).toEqual([false, false, false, false])
  await command('scopes', 'enable', 'api2')
  await eventually(async () => expect(await statuses()).toEqual(new Set([200])))
  await command('scopes', 'remove', 'api2', '--force')
  await eventually(async () => expect(await statuses()).toEqual(new Set([400])))
}

async function onNetwork(name: keyof typeof networkStores): Promise<void> {
  const { stop, ...storage } = await networkStores[name]()
  closings.push(stop)
  await works(storage)
}

describe('scopes change while four processes run', () => {
  test('on SQLite', () => onNetwork('sqlite'))
  test('on files', () => works({ driver: 'filesystem', directory: './data' }))
})

describeWithPostgresql('scopes change while four processes run', () => {
  test('on PostgreSQL', () => onNetwork('postgresql'))
})

describeWithRedis('scopes change while four processes run', () => {
  test('on Redis', () => onNetwork('redis'))
})
