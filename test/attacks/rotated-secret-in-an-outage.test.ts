/**
 * Attack: a secret has leaked and was rotated. While the storage cannot be read, another process remembers the client of before for
 * seconds, and a JWT needs no record: the thief gets one with the old secret.
 *
 * docs/decisions/0022: whether a client is still what a process remembers is read for each token. A client that cannot change while
 * the process runs, that of a list, needs no storage for a JWT.
 */
import { openAdministration, storedEntries } from '@grantry/administration'
import { type AtomicDriver, type ClientOptions, hashSecret, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, clients, fixture } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
const shop = ['shop', 'leaked'] as const
const client: ClientOptions = {
  ...clients[0],
  clientId: shop[0],
  secrets: [hashSecret(shop[1])],
  accessTokenFormat: 'jwt',
}
const done = async (): Promise<void> => {}

/** A driver of which some reads fail, and which counts all calls. */
function failing(driver: AtomicDriver) {
  let fails = (_key: string): boolean => false
  let calls = 0
  const keysIn = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.map(({ key }: { readonly key: string }) => key) : [String(value)]
  const storage = new Proxy(driver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...values: readonly unknown[]) => {
        calls += 1
        if (String(name).startsWith('get') && keysIn(values[0]).some((key) => fails(key))) throw new Error('down')
        return member.apply(target, values)
      }
    },
  })
  return {
    storage,
    fail(what: (key: string) => boolean) {
      fails = what
    },
    calls: () => calls,
  }
}

const outages: Readonly<Record<string, (key: string) => boolean>> = {
  'epochs cannot be read': (key) => key.startsWith('epoch:'),
  'the revision cannot be read': (key) => key.startsWith('revision:'),
  'nothing can be read': () => true,
}

const forms = {
  'client credentials': { grant_type: 'client_credentials', scope: 'api1' },
  'a password': { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' },
} as const

type Kind = (driver: AtomicDriver) => Promise<{
  readonly f: Awaited<ReturnType<typeof fixture>>
  /** Rotates the secret elsewhere. Absent: the client cannot change. */
  readonly rotate?: () => Promise<unknown>
}>

const listed: Readonly<Record<string, Kind>> = {
  'a client of a list': async (storage) => ({ f: await fixture({ storage, clients: [client] }) }),
  'a client of a list beside the storage': async (storage) => {
    const entries = openEntries({ issuer, storage: memoryDriver() })
    return {
      f: await fixture({
        storage,
        clients: [client],
        plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 })],
      }),
    }
  },
}

const changing: Readonly<Record<string, Kind>> = {
  'a client in the storage': async (storage) => {
    const entries = openEntries({ issuer, storage: memoryDriver() })
    const open = () => fixture({ storage, plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 })] })
    const [f, administrating] = [await open(), await open()]
    const { clients: manager } = openAdministration({
      entries,
      check: { client: done, scope: done, user: done },
      hashPassword: async () => '',
      revoke: administrating.provider.revoke,
      renewClient: administrating.provider.renewClient,
      now: () => f.clock.now() * 1000,
    }).as({ who: 'admin' })
    await manager.add(client)
    return { f, rotate: () => manager.rotateSecret(shop[0], 0) }
  },
  'a client of a store of the host': async (storage) => {
    // The object that was read stays in the hands of the process, as in a cache of the host.
    const f = await fixture({ storage, clients: { find: (id) => (id === shop[0] ? client : undefined) } })
    return { f, rotate: () => f.provider.renewClient(shop[0]) }
  },
}

describe.each(Object.entries({ ...listed, ...changing }))('a JWT of %s', (_kind, open) => {
  const cases = Object.keys(outages).flatMap((outage) =>
    (['client credentials', 'a password'] as const).map((form) => [outage, form] as const),
  )

  test.each(cases)('while %s, by %s, is issued only if nothing has to be read for it', async (outage, form) => {
    const driver = failing(memoryDriver())
    const { f, rotate } = await open(driver.storage)
    expect((await f.post('token', forms[form], shop)).status).toBe(200)
    f.clock.advance(1)
    await rotate?.()
    driver.fail(outages[outage] ?? (() => true))
    const { status, body } = await f.post('token', forms[form], shop)
    // What was revoked of a user, such as after a new password, is as unknown as a rotation.
    const needsStorage = rotate !== undefined || form === 'a password'
    const gets = needsStorage ? [503, 'undefined'] : [200, 'string']
    expect([status, typeof body.access_token]).toEqual(gets)
  })
})

test.each(Object.entries(listed))(
  'a JWT of %s costs no call of the storage in the second in which its state was read',
  async (_kind, open) => {
    const driver = failing(memoryDriver())
    const { f } = await open(driver.storage)
    for (let round = 0; round < 2; round += 1) await f.post('token', forms['client credentials'], shop)
    const before = driver.calls()
    expect((await f.post('token', forms['client credentials'], shop)).status).toBe(200)
    expect(driver.calls()).toBe(before)
  },
)
