/**
 * Attack: a thief who has logged in as a user obtains tokens although all sessions of the user are ended while the grant
 * is still working, in this process or in another one. The epochs of the user are read when the password has been checked,
 * not when the tokens are issued. The thief may cause other revocations meanwhile, by replaying a refresh token.
 *
 * docs/decisions/0049: tokens carry the epochs at the login, and a revocation since then reaches them.
 */
import type { AtomicDriver, UserService } from '@grantry/core'
import { createTestProvider, mapDriver, testClient } from '@grantry/testing'
import { expect, test } from 'vitest'
import { api1, builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:login'
const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

/** Two providers on one storage, like two processes. The grant of the first does more than check the password of alice. */
async function started(also: () => Promise<unknown>, issuedTo = '1', format: 'jwt' | 'reference' = 'reference') {
  const driver = mapDriver()
  let isBroken = false
  const storage: AtomicDriver = {
    ...driver,
    getItem(key) {
      if (isBroken && /^(?:revision|epoch):/u.test(key)) throw new Error('connection lost')
      return driver.getItem(key)
    },
  }
  const login = testGrant({
    grantType,
    async handle({ scopes }, kit) {
      const subject = await kit.authenticateUser({ username: 'alice', password: 'alice-password' })
      if (subject === undefined) throw new Error('the password is right')
      await also()
      return { subject: { ...subject, sub: issuedTo }, scopes, issue: { accessToken: format } }
    },
  })
  const withLogin = clients.map((client) =>
    client.clientId === web[0] ? { ...client, grantTypes: [...(client.grantTypes ?? []), grantType] } : client,
  )
  const f = await fixture({ storage, clients: withLogin, plugins: [...builtInPlugins, login] })
  const otherProcess = await fixture({ storage: driver, runtime: { now: f.clock.now } })
  const logIn = () => f.post('token', { grant_type: grantType, scope: 'api1' }, web)
  const tokenOf = async () => (await logIn()).body.access_token
  const breakReads = (broken: boolean) => {
    isBroken = broken
  }
  return { f, otherProcess, logIn, tokenOf, breakReads }
}

test('a revocation in another process reaches a login in progress, and not the next one', async () => {
  let act = async (): Promise<unknown> => undefined
  const { f, otherProcess, tokenOf } = await started(() => act())
  await tokenOf()
  act = () => otherProcess.provider.revoke({ subject: '1' })
  const outdated = await tokenOf()
  act = async () => undefined
  expect(await isActive(f, outdated)).toBe(false)
  expect(await isActive(otherProcess, outdated)).toBe(false)
  expect(await isActive(f, await tokenOf())).toBe(true)
})

test('a replay in this process does not hide the revocation in another one', async () => {
  let act = async (): Promise<unknown> => undefined
  const { f, otherProcess, tokenOf } = await started(() => act())
  const bob = { grant_type: 'password', username: 'bob', password: 'bob-password', scope: 'offline_access' }
  const { refresh_token } = (await f.post('token', bob, web)).body
  const refresh = (scope: string) => f.post('token', { grant_type: 'refresh_token', refresh_token, scope }, web)
  await refresh('offline_access')
  act = async () => {
    await otherProcess.provider.revoke({ subject: '1' })
    expect((await refresh('')).body.error).toBe('invalid_grant')
  }
  const outdated = await tokenOf()
  expect(await isActive(f, outdated)).toBe(false)
  expect(await isActive(otherProcess, outdated)).toBe(false)
})

test('a grant that ends the earlier sessions of the user issues a valid token', async () => {
  let act = async (): Promise<unknown> => undefined
  const { f, tokenOf } = await started(() => act())
  const earlier = await tokenOf()
  act = () => f.provider.revoke({ subject: '1' })
  const fresh = await tokenOf()
  expect(await isActive(f, earlier)).toBe(false)
  expect(await isActive(f, fresh)).toBe(true)
})

test('a token of another user than the one who logged in carries the epoch of its own user', async () => {
  const { f, otherProcess, tokenOf } = await started(async () => undefined, '2')
  await otherProcess.provider.revoke({ subject: '2' })
  const token = await tokenOf()
  // Replaces the revision, so that the epochs of the token are compared.
  await otherProcess.provider.revoke({ clientId: 'other' })
  expect(await isActive(f, token)).toBe(true)
  await otherProcess.provider.revoke({ subject: '2' })
  expect(await isActive(f, token)).toBe(false)
})

test.each(['jwt', 'reference'] as const)(
  'a login whose epochs cannot be read gets no token, with the format %s',
  async (format) => {
    const { f, otherProcess, logIn, breakReads } = await started(async () => undefined, '1', format)
    await otherProcess.provider.revoke({ subject: '1' })
    breakReads(true)
    const { status, body } = await logIn()
    breakReads(false)
    // Also without a record: whether the password was changed a moment ago is not known.
    expect([status, body.access_token]).toEqual([503, undefined])
    expect(await isActive(f, (await logIn()).body.access_token)).toBe(true)
  },
)

test('the epochs of a user whom the grant names itself are read before the user service is asked, and only once', async () => {
  const driver = mapDriver()
  const reads = { before: 0, all: 0 }
  const storage: AtomicDriver = {
    ...driver,
    getItem(key) {
      if (key.startsWith('epoch:')) reads.all += 1
      return driver.getItem(key)
    },
  }
  const grant = testGrant({
    grantType,
    handle: ({ scopes }) => ({ subject: { sub: '1', amr: ['pwd'] }, scopes }),
  })
  const users: UserService = {
    isActive() {
      reads.before = reads.all
      return true
    },
  }
  const { post } = await createTestProvider({ storage, users, plugins: [grant] })
  const form = { grant_type: grantType, scope: 'api1' }
  // The first authorization of a provider reads twice, to create the revision.
  expect((await post('token', form, testClient)).status).toBe(200)
  reads.all = 0
  expect((await post('token', form, testClient)).status).toBe(200)
  expect(reads).toEqual({ before: 2, all: 2 })
})
