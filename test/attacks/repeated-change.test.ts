/**
 * Attack: an administrator changes something to shut a thief out, the storage fails in the middle, and the administrator repeats
 * the change. It was written at the first time, and the second one finds nothing to do: the refresh token of the thief lives on,
 * or the old secret still works in a process that remembers it. Each call of the storage fails, reads and writes, before it acts
 * and after, for managers (which the commands use), the admin API, `apply`, and the reset of second factors.
 */
import {
  applyPlan,
  declarationOf,
  type Managers,
  makePlan,
  openAdministration,
  resetSecondFactors,
} from '@grantry/administration'
import { type AtomicDriver, hashSecret } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { setting } from '../admin-api/setting.ts'
import { web } from '../support/fixture.ts'

const accepted = async (): Promise<void> => {}
const next = 'another hash'
const shop = ['shop', 'leaked'] as const
const client = {
  clientId: shop[0],
  secrets: [hashSecret(shop[1])],
  grantTypes: ['password', 'refresh_token'],
  scopes: ['openid', 'offline_access', 'api1'],
}

/** A storage whose calls fail, before or after they act, from the one with a number until `repair()`. */
function failing(driver: AtomicDriver) {
  let left = Number.POSITIVE_INFINITY
  let actsFirst = false
  async function attempt<T>(call: () => T): Promise<Awaited<T>> {
    left -= 1
    if (left > 0) return await call()
    if (left === 0 && actsFirst) await call()
    throw new Error('The storage has failed')
  }
  const calls = Object.entries(driver).map(([name, call]) => [
    name,
    typeof call === 'function'
      ? (...parameters: readonly unknown[]) => attempt(() => call.apply(driver, parameters))
      : call,
  ])
  return {
    storage: Object.fromEntries(calls) as AtomicDriver,
    failAt(number: number, acts: boolean) {
      left = number
      actsFirst = acts
    },
    repair() {
      const isOver = left > 0
      left = Number.POSITIVE_INFINITY
      return isOver
    },
  }
}

async function service() {
  const { storage, ...faults } = failing(memoryDriver())
  const f = await setting({ storage })
  const managers: Managers = openAdministration({
    entries: f.entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => next,
    revoke: f.provider.revoke,
    renewClient: f.provider.renewClient,
    now: () => f.clock.now() * 1000,
  }).as({ who: 'admin' })
  await managers.users.add({ sub: 'carol', username: 'carol', password: 'a hash' })
  await managers.clients.add(client)
  // The token of the API, before anything fails.
  await f.send('GET', '')
  const form = { grant_type: 'password', username: 'carol', password: 'correct horse battery' }
  const signIn = (by: readonly [string, string]) => f.post('token', { ...form, scope: 'openid offline_access' }, by)
  const refresh = (token: string, by: readonly [string, string]) =>
    f.post('token', { grant_type: 'refresh_token', refresh_token: token }, by)
  return { f, storage, faults, managers, signIn, refresh }
}
type Service = Awaited<ReturnType<typeof service>>

async function apply({ managers }: Service, content: object): Promise<void> {
  const plan = await makePlan(declarationOf([{ file: 'f.json', content }]), managers, { prune: true })
  const { failure } = await applyPlan(plan, { managers, keepSecret: () => {} })
  if (failure !== undefined) throw failure.cause
}

/** Sends a request to the admin API. @throws Error unless it succeeds, or finds nothing to remove any more */
async function send({ f }: Service, method: string, path: string, body?: object): Promise<void> {
  const { status } = await f.send(method, path, { ...(body && { body }), headers: { 'if-match': '*' } })
  if (status >= 400) throw new Error(`status ${status}`)
}

const user = { sub: 'carol', username: 'carol' }
const users: Readonly<Record<string, (s: Service) => Promise<unknown>>> = {
  'a password that is set': ({ managers }) => managers.users.setPassword('carol', 'a long password'),
  'a hash in an edit': ({ managers }) => managers.users.edit('carol', { password: next }),
  'a user who is disabled': ({ managers }) => managers.users.edit('carol', { active: false }),
  'a user who is removed': ({ managers }) => managers.users.remove('carol'),
  'a user who is disabled by a file': (s) => apply(s, { users: [{ ...user, active: false }] }),
  'a user who is removed by a file': (s) => apply(s, { users: [] }),
  'a password over the API': (s) => send(s, 'PUT', '/users/carol/password', { password: 'a long password' }),
  'a user who is disabled over the API': (s) => send(s, 'PATCH', '/users/carol', { active: false }),
  'a user who is removed over the API': (s) => send(s, 'DELETE', '/users/carol'),
  'a user who is revoked over the API': (s) => send(s, 'POST', '/users/carol/revoke', {}),
  'a reset of second factors': ({ f, storage }) =>
    resetSecondFactors('carol', {
      secondFactors: { withoutReset: [], reset: async () => storage.getItem('factors') },
      audited: (_change, make) => make(),
      async revoke(target) {
        await f.provider.revoke(target)
        return 0
      },
    }),
}

const clients: Readonly<Record<string, (s: Service) => Promise<unknown>>> = {
  'a rotated secret': ({ managers }) => managers.clients.rotateSecret(shop[0], 0),
  'another secret in an edit': ({ managers }) => managers.clients.edit(shop[0], { secrets: [hashSecret('new')] }),
  'a client that is disabled': ({ managers }) => managers.clients.edit(shop[0], { enabled: false }),
  'a client that is removed': ({ managers }) => managers.clients.remove(shop[0]),
  'another secret in a file': (s) => apply(s, { clients: [{ ...client, secrets: [hashSecret('new')] }] }),
  'a grant type that a file removes': (s) => apply(s, { clients: [{ ...client, grantTypes: [] }] }),
  'a client that is disabled by a file': (s) => apply(s, { clients: [{ ...client, enabled: false }] }),
  'a client that is removed by a file': (s) => apply(s, { clients: [] }),
  'a secret that is rotated over the API': (s) => send(s, 'POST', '/clients/shop/rotate-secret', {}),
  'a grant type that is removed over the API': (s) => send(s, 'PATCH', '/clients/shop', { grantTypes: [] }),
  'a client that is disabled over the API': (s) => send(s, 'PATCH', '/clients/shop', { enabled: false }),
  'a client that is removed over the API': (s) => send(s, 'DELETE', '/clients/shop'),
}

/** Makes a change whose storage fails at one call, and repeats it. Returns whether it has not failed, and the tokens of before. */
async function changedTwice(
  name: string,
  change: (s: Service) => Promise<unknown>,
  s: Service,
  by: readonly [string, string],
  fault: readonly [number: number, acts: boolean],
) {
  const tokens = [(await s.signIn(by)).body.refresh_token]
  s.faults.failAt(...fault)
  const isDone = await change(s).then(
    () => true,
    () => false,
  )
  const isOver = s.faults.repair()
  if (!isDone) {
    // A sign-in that began before: it may end between the revocation and its repetition. Not of what is not there any more.
    if (!name.includes('removed')) tokens.push((await s.signIn(by)).body.refresh_token)
    // A removal that has succeeded finds nothing any more.
    await change(s).catch((cause: unknown) =>
      expect([name, String(cause)]).toEqual([
        expect.stringContaining('removed'),
        expect.stringMatching(/there is no|404/u),
      ]),
    )
  }
  return { isOver, isRepeated: !isDone, tokens: tokens.filter((token): token is string => typeof token === 'string') }
}

describe.each([false, true])('the failing call acts: %s', (acts) => {
  test.each(Object.entries(users))(
    '%s ends what was issued when it is repeated after a failure',
    async (name, change) => {
      let number = 1
      for (let isOver = false; !isOver; number += 1) {
        const s = await service()
        const done = await changedTwice(name, change, s, web, [number, acts])
        isOver = done.isOver
        for (const token of done.tokens) expect([number, (await s.refresh(token, web)).status]).toEqual([number, 400])
      }
      expect(number).toBeGreaterThan(3)
    },
  )

  test.each(Object.entries(clients))(
    '%s counts in this second when it is repeated after a failure',
    async (name, change) => {
      let number = 1
      for (let isOver = false; !isOver; number += 1) {
        const s = await service()
        const done = await changedTwice(name, change, s, shop, [number, acts])
        isOver = done.isOver
        for (const token of done.tokens) {
          expect([number, (await s.refresh(token, shop)).body.access_token]).toEqual([number, undefined])
        }
        expect([number, (await s.signIn(shop)).body.access_token]).toEqual([number, undefined])
        const stored = await s.managers.clients.show(shop[0]).catch(() => undefined)
        // If nothing but the removal of the mark has failed, the change is done.
        if (done.isRepeated) expect([number, stored?.unfinished]).toEqual([number, undefined])
        if (stored?.value.enabled !== false) continue
        await s.managers.clients.edit(shop[0], { enabled: true })
        s.f.clock.advance(10)
        for (const token of done.tokens) expect([number, (await s.refresh(token, shop)).status]).toEqual([number, 400])
      }
      expect(number).toBeGreaterThan(5)
    },
  )
})
