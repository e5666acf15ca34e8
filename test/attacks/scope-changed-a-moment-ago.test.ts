/**
 * Attack: the secret of an API has leaked, and an administrator rotates it, or disables or removes the scope. Another process
 * still remembers the scopes of before, for seconds. A thief who sends the old secret there reads the claims of stolen tokens.
 *
 * docs/decisions/0022: what was taken away is no proof any more when the change has returned, in any process.
 */
import { type Managers, openAdministration, storedScopes } from '@grantry/administration'
import { type AtomicDriver, definePlugin, defineScopeSource, hashSecret, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { inOneTrip, withLatency } from '../support/latency.ts'

const issuer = 'https://id.example.com'
const pay = ['pay', 'leaked'] as const
const accepted = async (): Promise<void> => {}

const stores: readonly (readonly [string, (driver: AtomicDriver) => AtomicDriver])[] = [
  ['a driver in memory', (driver) => driver],
  ['a slow driver', withLatency],
  ['a slow driver that reads in one trip', (driver) => withLatency(inOneTrip(driver))],
]

/** Two processes on one storage that never run their tasks, and a token for the API. */
async function processes(storage: AtomicDriver) {
  const entries = openEntries({ issuer, storage })
  const { scopes: manager } = openAdministration({
    entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => '',
    revoke: accepted,
    now: () => 1_800_000_000_000,
  }).as({ who: 'admin' })
  await manager.add({ name: pay[0], secrets: [hashSecret(pay[1])] })
  const withPay = clients.map((client) => ({ ...client, scopes: [...(client.scopes ?? []), pay[0]] }))
  const opened = () =>
    fixture({
      storage,
      clients: withPay,
      plugins: [builtInPlugins, definePlugin('stored', [defineScopeSource(storedScopes(entries))])],
    })
  const [f, otherProcess] = [await opened(), await opened()]
  const issued = await f.post('token', { grant_type: 'client_credentials', scope: pay[0] }, web)
  return { f, otherProcess, manager, token: String(issued.body.access_token) }
}

const introspect = ({ post }: Fixture, token: string, by: readonly [string, string] = pay) =>
  post('introspection', { token }, by)

/** The secret in the form. */
const introspectByForm = ({ post }: Fixture, token: string) =>
  post('introspection', { token, client_id: pay[0], client_secret: pay[1] })

const changes: Readonly<Record<string, (scopes: Managers['scopes']) => Promise<unknown>>> = {
  'a rotation': (scopes) => scopes.rotateSecret(pay[0], 0),
  'an edit of the secrets': (scopes) => scopes.edit(pay[0], { secrets: [hashSecret('new')] }),
  'an edit that leaves none': (scopes) => scopes.edit(pay[0], { secrets: [] }),
  'the scope is disabled': (scopes) => scopes.edit(pay[0], { enabled: false }),
  'the scope is removed': (scopes) => scopes.remove(pay[0], { force: true }),
}

describe.each(stores)('on %s', (_, storeOf) => {
  test.each(Object.keys(changes))('after %s, the old secret reads nothing in another process', async (change) => {
    const { f, otherProcess, manager, token } = await processes(storeOf(memoryDriver()))
    for (const process of [f, otherProcess]) expect((await introspect(process, token)).body.active).toBe(true)
    await changes[change]?.(manager)
    for (const process of [f, otherProcess]) {
      for (const send of [introspect, introspectByForm, introspect]) {
        const { status, body } = await send(process, token)
        expect([status, body.active]).toEqual([401, undefined])
      }
      expect(process.events.filter(({ type }) => type === 'introspection_active')).toHaveLength(1)
      expect(process.events.filter(({ type }) => type === 'introspection_denied')).toHaveLength(3)
    }
  })

  test('a right that was taken away shows nothing more in another process, also not once', async () => {
    const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
    await manager.edit(pay[0], { unrestrictedIntrospection: true })
    const issued = await f.post('token', { grant_type: 'client_credentials', scope: `api1 ${pay[0]}` }, web)
    const token = String(issued.body.access_token)
    for (const process of [f, otherProcess])
      expect((await introspect(process, token)).body.scope).toBe(`api1 ${pay[0]}`)
    await manager.edit(pay[0], { unrestrictedIntrospection: false })
    for (const process of [f, otherProcess]) expect((await introspect(process, token)).body.scope).toBe(pay[0])
  })

  test.each([
    ['header', introspect],
    ['form', introspectByForm],
  ] as const)('a change that takes nothing away disturbs no request: the secret in the %s', async (_, send) => {
    const { f, manager, token } = await processes(storeOf(memoryDriver()))
    const { secret } = await manager.rotateSecret(pay[0], 60)
    await manager.add({ name: 'more' })
    expect((await send(f, token)).body.active).toBe(true)
    expect((await introspect(f, token, [pay[0], secret ?? ''])).body.active).toBe(true)
  })

  test('of 20 requests around the rotation, none that begins after it is answered', async () => {
    const { f, otherProcess, manager, token } = await processes(storeOf(memoryDriver()))
    const before = Array.from({ length: 10 }, (_, at) => introspect(at % 2 === 0 ? f : otherProcess, token))
    await manager.rotateSecret(pay[0], 0)
    const after = Array.from({ length: 10 }, (_, at) => introspect(at % 2 === 0 ? f : otherProcess, token))
    await Promise.all(before)
    for (const { status } of await Promise.all(after)) expect(status).toBe(401)
  })
})

test('while the storage cannot say whether the secret is there, nothing is answered', async () => {
  let isDown = false
  const driver = memoryDriver()
  const getItem: AtomicDriver['getItem'] = (key) => {
    if (isDown && key.startsWith('entries:')) throw new Error('down')
    return driver.getItem(key)
  }
  const { f, token } = await processes({ ...driver, getItem })
  isDown = true
  const { status, body } = await introspect(f, token)
  expect([status, body.active]).toEqual([503, undefined])
})
