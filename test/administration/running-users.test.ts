// Users that an administrator changes by command while four processes of the server run on one storage, and two
// administrators who add the same user in two processes.
import { openAdministration } from '@grantry/administration'
import { openEntries, parseConfiguration } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { configuredStorage, storageSchema } from '../../packages/server/src/configuration/storage/storage-drivers.ts'
import { eventually } from '../support/eventually.ts'
import { withLatency } from '../support/latency.ts'
import { newDirectory } from '../support/server-program.ts'
import { testOnEveryStore } from './on-every-store.ts'
import { post, startService } from './service.ts'
import { expectConsistentNames, reasonOf } from './user-setting.ts'

const password = 'correct horse battery'
const clients = [
  {
    clientId: 'web',
    secrets: [{ sha256: sha256Of('web-secret') }],
    grantTypes: ['password'],
    scopes: ['api1'],
    accessTokenFormat: 'reference',
  },
]

async function works(storage: object, closings: (() => unknown)[]): Promise<void> {
  const { command, commandWith, inProcess, everywhere } = await startService(storage, closings, { clients })
  const signIn = (username: string, given = password) =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['web', 'web-secret'], {
        grant_type: 'password',
        username,
        password: given,
        scope: 'api1',
      }),
    )
  const statusesOf = async (username: string, given?: string) =>
    new Set((await signIn(username, given)).map(({ status }) => status))

  expect(await statusesOf('alice')).toEqual(new Set([400]))
  await commandWith(`${password}\n`, 'users', 'add', 'alice', '--sub', 'a')
  const tokens = await signIn('ALICE')
  expect(new Set(tokens.map(({ status }) => status))).toEqual(new Set([200]))
  const [token] = tokens.map(({ body }) => String(body.access_token))
  const isActive = () =>
    everywhere(async (origin) => {
      const { body } = await post(`${origin}/connect/introspect`, ['api1', 'api1-secret'], { token: token as string })
      return body.active
    })
  expect(await isActive()).toEqual([true, true, true, true])

  await command('users', 'edit', 'a', '--username', 'alicia')
  expect([await statusesOf('alice'), await statusesOf('alicia')]).toEqual([new Set([400]), new Set([200])])
  await command('users', 'disable', 'alicia')
  expect(await isActive()).toEqual([false, false, false, false])
  expect(await statusesOf('alicia')).toEqual(new Set([400]))
  await command('users', 'enable', 'a')
  await eventually(async () => expect(await statusesOf('alicia')).toEqual(new Set([200])))
  await command('users', 'remove', 'a')
  expect(await statusesOf('alicia')).toEqual(new Set([400]))

  for (const name of ['bob', 'carol']) {
    const codes = await Promise.all(
      [name, name.toUpperCase()].map((spelling) => inProcess('users', 'add', spelling, '--no-password')),
    )
    expect(codes.sort()).toEqual([0, 1])
  }
  expect(JSON.parse(await command('users', 'list', '--json')).users).toHaveLength(2)
  const trail: readonly { action: string }[] = JSON.parse(await command('audit', '--json'))
  expect(trail.map(({ action }) => action)).toEqual([
    'user_added',
    'user_added',
    'user_removed',
    'user_changed',
    'user_changed',
    'user_changed',
    'user_added',
  ])
}

/** Two administrators on connections of their own, with random latency, add the same names. */
async function oneWins(storage: object, closings: (() => unknown)[]): Promise<void> {
  const open = async () => {
    const { driver } = await configuredStorage(parseConfiguration(storageSchema, storage, 'storage'), newDirectory())
    await driver.open?.()
    closings.push(() => driver.dispose?.())
    return driver
  }
  const drivers = [await open(), await open()] as const
  const administrators = drivers.map((driver) =>
    openAdministration({
      entries: openEntries({ issuer: 'https://id.example.com', storage: withLatency(driver) }),
      check: { client: async () => {}, scope: async () => {}, user: async () => {} },
      hashPassword: async () => '',
      revoke: async () => {},
    }).as({ who: 'alice' }),
  )
  for (let round = 0; round < 10; round += 1) {
    const reasons = await Promise.all(
      administrators.map(({ users }, index) =>
        reasonOf(users.add({ username: `${index === 0 ? 'USER' : 'user'}${round}` })),
      ),
    )
    expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
    expect(reasons).toContain('exists')
  }
  expect(await expectConsistentNames(drivers[0])).toHaveLength(10)
}

testOnEveryStore('users change while four processes run', works)
testOnEveryStore('of two administrators who add one name, one wins', oneWins)
