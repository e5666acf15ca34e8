// Attack: a thief has the secret of a client, and four processes remember it. When `grantry clients rotate-secret` has returned, the
// old secret gives nothing at any of them, without `grantry revoke --client`; tokens of before stay.

import { afterAll, expect, test } from 'vitest'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { post, startService } from './service.ts'

const api1 = ['api1', 'api1-secret'] as const
const password = 'correct horse battery'

const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

/** Every process has just remembered the client with its old secret. */
async function refusesRotatedSecret(storage: object): Promise<void> {
  const options = { clients: [], abuseControl: { enabled: false } }
  const { command, commandWith, everywhere } = await startService(storage, closings, options)
  await commandWith(`${password}\n`, 'users', 'add', 'alice', '--sub', 'a')
  const add = [
    '--grant',
    'password',
    '--grant',
    'refresh_token',
    '--scope',
    'api1',
    '--scope',
    'offline_access',
    '--json',
  ]
  const { secret } = JSON.parse(await command('clients', 'add', 'desk', ...add)) as { readonly secret: string }
  const signIn = { grant_type: 'password', username: 'alice', password, scope: 'api1 offline_access' }
  const ask = (by: string, form: Readonly<Record<string, string>>) => async (origin: string) =>
    (await post(`${origin}/connect/token`, ['desk', by], form)).body
  const before = await everywhere(ask(secret, signIn))
  const refresh = before.map(({ refresh_token: token }) => ({
    grant_type: 'refresh_token',
    refresh_token: String(token),
  }))
  const rotated = JSON.parse(await command('clients', 'rotate-secret', 'desk', '--json')) as { readonly secret: string }
  for (const form of [signIn, ...refresh]) {
    const gained = await everywhere(ask(secret, form))
    expect(gained.map(({ access_token: token }) => token)).toEqual(before.map(() => undefined))
  }
  const [first, ...others] = refresh
  const [origin] = await everywhere(async (each) => each)
  for (const form of [signIn, ...others]) {
    expect((await ask(rotated.secret, form)(origin ?? '')).access_token).toEqual(expect.any(String))
  }
  const active = await everywhere(async (each) => {
    const form = { token: String(before[0]?.access_token) }
    return (await post(`${each}/connect/introspect`, api1, form)).body.active
  })
  expect([first?.grant_type, new Set(active)]).toEqual(['refresh_token', new Set([true])])
}

const title = 'a rotated secret at four processes'
async function on(name: 'postgresql' | 'redis'): Promise<void> {
  const { stop, ...storage } = await networkStores[name]()
  closings.push(stop)
  await refusesRotatedSecret(storage)
}

describeWithPostgresql(title, () => {
  test('on PostgreSQL', () => on('postgresql'))
})
describeWithRedis(title, () => {
  test('on Redis', () => on('redis'))
})
