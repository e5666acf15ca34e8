// What ends is removed: after an administrator has removed something, the storage has nothing of it that does not end soon.
import { openAdministration } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { userAuthorizations } from '@grantry/plugins/authorization-endpoint'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { registrations } from '@grantry/plugins/registration'
import { createTestClock } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { forgetUser } from '../../packages/server/src/administration/forget-user.ts'
import { revokeAndSignOut } from '../../packages/server/src/administration/revoke-and-sign-out.ts'
import { redirectUri, setUp as setUpRegistration } from '../registration/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { namedRecords } from '../support/named-records.ts'
import { codeAt, encryptionSecrets, secretIn, setUpUri } from './factors.ts'
import { issuer, setUpAccount } from './parties.ts'
import { addUri, optionsIn } from './passkeys.ts'

const hour = 3600
const day = 24 * hour

/** A provider, and an administrator on its storage. */
async function setUp() {
  const clock = createTestClock()
  const { storage, sha256Hex, records, values } = namedRecords(clock.now)
  const fail = { next: false }
  const passkeys = storedPasskeys()
  const factors = storedSecondFactors({ encryptionSecrets })
  const f = await setUpAccount({
    signIn: { passkeys, secondFactors: factors.factors },
    account: { passkeys, secondFactors: factors.account },
    provider: { storage, runtime: { now: clock.now, sha256Hex } },
  })
  const administration = openAdministration({
    entries: openEntries({ issuer, storage }),
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async (text) => text,
    revoke: async (target) => void (await revokeAndSignOut(target, f.provider)),
    async forgetUser(sub) {
      await forgetUser(sub, f.provider)
      if (!fail.next) return
      fail.next = false
      throw new Error('the host fails')
    },
    now: () => clock.now() * 1000,
  })
  return { ...f, clock, records, values, fail, ...administration.as({ who: 'operator' }) }
}

/** What may remain, with the seconds in which it ends at the latest. */
type Allowed = readonly (readonly [name: RegExp, seconds: number])[]

const expectOnly = (records: readonly (readonly [string, number])[], allowed: Allowed) => {
  const unexpected = records.filter(
    ([name, left]) => !allowed.some(([pattern, seconds]) => pattern.test(name) && left <= seconds),
  )
  expect(unexpected).toEqual([])
}

const century = 100 * 366 * day

/** What forbids, and what was there before anything was created. */
const common: Allowed = [
  [/^epoch:|^revision:|^keys:/u, 3654 * day],
  [/^entr(?:y|ies):/u, century],
]

/** Counts, and what forbids a second use, in the words of their keys. */
const brief: Allowed = [
  [/^count (?:passwords|waitingRequests)\.|^passed:/u, 20 * 60],
  [/ used (?:secret|interaction|challenge):| totp:/u, hour],
  [/ ended:| change:/u, 60],
  // A list without a member.
  [/ (?:authorizations|consents|passkeys|sessions|clients) of /u, 60],
  // A place in which the user has signed in, without a name.
  [/^known:/u, 30 * day],
  // A site in which some user has signed in.
  [/ site with users:/u, 30 * day],
  // The number of the last form of the account page: no older form counts.
  [/ generation of /u, 366 * day],
]

/** Tokens of what was revoked: nothing reads them as active, and they end as issued. */
const revokedTokens: Allowed = [
  [/^(?:code|refresh|access|spent):/u, 31 * day],
  [/^replay:/u, hour],
]

describe('a user who was removed', () => {
  test('leaves no passkey, factor, consent, session or list, only what ends soon', async () => {
    const f = await setUp()
    const sub = 'sub of alice'
    await f.users.add({ sub, username: 'alice' })
    const { browser: alice } = await f.signedIn()
    const device = createAuthenticator()
    const page = await alice.open(addUri)
    await f.send(alice, page, { credential: device.register(optionsIn(page).challenge), name: 'Laptop' })
    const app = await alice.open(setUpUri)
    await f.send(alice, app, { code: codeAt(secretIn(app), Math.floor(f.clock.now())) })
    expect((await f.authorize(alice)).body.refresh_token).toEqual(expect.any(String))
    expect((await f.authorize(alice, 'openid api1')).body.access_token).toEqual(expect.any(String))
    const before = f.records().map(([name]) => name)
    for (const kind of [
      'passkey',
      'passkey name',
      'passkeys of',
      'consent',
      'consents of',
      'authorizations of',
      'sessions of',
    ])
      expect(before.join('\n')).toContain(` ${kind}`)
    await f.users.remove(sub)
    expectOnly(f.records(), [...common, ...brief, ...revokedTokens])
  })
})

describe('a client that was removed', () => {
  test('leaves consents to it until their end, and what its users see in no list', async () => {
    const f = await setUp()
    const { browser: alice } = await f.signedIn()
    await f.authorize(alice)
    await revokeAndSignOut({ clientId: 'web' }, f.provider)
    const sub = 'sub of alice'
    expect(await f.provider.use(userAuthorizations).list(sub)).toEqual([])
    expectOnly(
      f.records().filter(([name]) => /web|authorizations|consent/u.test(name)),
      [
        [/ consents? ?(?:of|:)/u, 366 * day],
        [/ authorizations of /u, 31 * day],
        [/^count /u, 20 * 60],
      ],
    )
  })
})

describe('a user who is removed a second time', () => {
  test('because a function of the host had failed, leaves nothing either', async () => {
    const f = await setUp()
    const sub = 'sub of alice'
    await f.users.add({ sub, username: 'alice' })
    const { browser: alice } = await f.signedIn()
    await f.authorize(alice)
    f.fail.next = true
    await expect(f.users.remove(sub)).rejects.toThrow('the host fails')
    expect((await f.users.show(sub)).value.active).toBe(false)
    await f.users.remove(sub)
    expectOnly(f.records(), [...common, ...brief, ...revokedTokens])
  })
})

describe('in the storage of a provider with registrations', () => {
  const registering = async () => {
    const clock = createTestClock()
    const { storage, sha256Hex, records } = namedRecords(clock.now)
    const f = await setUpRegistration({}, { storage, runtime: { now: clock.now, sha256Hex } })
    return { ...f, clock, records }
  }
  const counts: Allowed = [
    [/^count registration registrations:/u, 2 * hour],
    [/^count registration units:/u, day],
    [/^count waitingRequests\./u, 20 * 60],
  ]

  test('a client that was removed leaves no origin, and nothing that ends late', async () => {
    const f = await registering()
    const client = await f.registered({
      redirect_uris: [redirectUri, 'https://app.example.com/b', 'http://localhost/c'],
    })
    expect((await f.signIn(client)).status).toBe(200)
    expect(f.records().filter(([name]) => / (?:origin:|clients of )/u.test(name))).toHaveLength(4)
    const { registration_client_uri: url, registration_access_token: token } = client
    expect((await f.send(url, { method: 'DELETE', token })).status).toBe(204)
    // In the list of its user, who does not see it there.
    const listed: Allowed = [[/ authorizations of /u, 31 * day]]
    expectOnly(f.records(), [...common, ...brief, ...counts, ...revokedTokens, ...listed])
  })

  test('an initial access token that was revoked leaves no record of the registrations that it has allowed', async () => {
    const f = await registering()
    const { token, id } = await f.issueToken(150, day)
    for (let at = 0; at < 120; at += 1) await f.registered({}, { token })
    expect(f.records().filter(([name]) => / unit:/u.test(name))).toHaveLength(120)
    expect(await f.provider.use(registrations).revokeToken(id)).toBe(true)
    expect(f.records().filter(([name]) => / (?:unit|initial):/u.test(name))).toEqual([])
    expect((await f.register(undefined, { token })).status).toBe(401)
  })
})

describe('an entry that was removed', () => {
  test('leaves its place, which no other entry of its version gets, and the trail', async () => {
    const f = await setUp()
    await f.scopes.add({ name: 'api2' })
    const client = { clientId: 'app', public: true, grantTypes: ['authorization_code'], scopes: ['api2'] }
    await f.clients.add({
      ...client,
      redirectUris: ['https://app.example.com/cb'],
      allowedCorsOrigins: ['https://app.example.com'],
    })
    await f.users.add({ sub: 'bob', username: 'bob', claims: { email: 'bob@example.com', email_verified: true } })
    await f.clients.remove('app')
    await f.scopes.remove('api2')
    await f.users.remove('bob')
    expectOnly(f.records(), [...common, ...brief])
    // The place has no value: no name, address, URI or hash.
    const places = f
      .values()
      .filter(([key]) => /^entry:(?:client|scope|user|user-name|user-address|origin):/u.test(key))
    expect(places.length).toBeGreaterThan(3)
    for (const [, value] of places) expect(value).not.toMatch(/app\.example|api2|bob@/u)
  })
})
