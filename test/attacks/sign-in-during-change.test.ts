/**
 * Attack: a thief who has an old password signs in at the moment in which its owner chooses a new one. The user service has
 * read the old hash, and compares it for 100 ms; meanwhile the new one is stored, and everything of the user is revoked. The
 * thief keeps a session, or a refresh token, that was issued after the revocation.
 *
 * docs/decisions/0022: what was decided by the state before a revocation gives nothing after it.
 */
import { type AtomicDriver, defineEndpoint } from '@grantry/core'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { passkeys } from '@grantry/plugins/passkeys'
import type { SignInWays } from '@grantry/plugins/sign-in'
import { mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { inOneTrip, withLatency } from '../support/latency.ts'
import { after, before, slowUsers } from '../support/slow-users.ts'
import { testGrant } from '../support/test-grant.ts'
import { accountAs, accountUrl, setUpUpstream } from '../upstream/parties.ts'

type SignIn = Awaited<ReturnType<typeof setUpSignIn>>

const form = { grant_type: 'password', username: 'alice', scope: 'openid offline_access' }
const signIn = (f: Fixture, password: string) => f.post('token', { ...form, password }, web)

/** Whether the refresh token of a response still gives tokens, if there is one. */
async function lasts(f: Fixture, body: { readonly refresh_token?: string }): Promise<boolean> {
  const { refresh_token: token } = body
  if (token === undefined) return false
  return (await f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)).status === 200
}

const stores: readonly (readonly [string, (driver: AtomicDriver) => AtomicDriver])[] = [
  ['a driver in memory', (driver) => driver],
  ['a slow driver', withLatency],
  ['a slow driver that reads in one trip', (driver) => withLatency(inOneTrip(driver))],
]

describe.each(stores)('the password grant on %s', (_, storeOf) => {
  /** Two providers on one storage, like two processes. */
  async function processes() {
    const driver = mapDriver()
    const { users, ...change } = slowUsers()
    const f = await fixture({ storage: storeOf(driver), users })
    const otherProcess = await fixture({ storage: storeOf(driver), users, runtime: { now: f.clock.now } })
    return { f, otherProcess, ...change }
  }

  describe.each(['this process', 'another process'] as const)('a revocation in %s', (where) => {
    test.each([
      ['the first sign-in of the user in this process', 0],
      ['the sign-in of a user whom this process remembers', 1],
    ])('ends %s with the old password', async (_name, earlier) => {
      const { f, otherProcess, changeDuring } = await processes()
      for (let times = 0; times < earlier; times += 1) expect((await signIn(f, before)).status).toBe(200)
      const revoking = where === 'this process' ? f : otherProcess
      changeDuring(() => revoking.provider.revoke({ subject: 'alice' }))
      expect(await lasts(f, (await signIn(f, before)).body)).toBe(false)
      expect((await signIn(f, before)).status).toBe(400)
      expect(await lasts(f, (await signIn(f, after)).body)).toBe(true)
      expect(await lasts(otherProcess, (await signIn(otherProcess, after)).body)).toBe(true)
    })
  })
})

test.each(['the same user', 'another user'])(
  'a name that now belongs to %s gives nothing to an old password',
  async (whose) => {
    const { users, changeDuring } = slowUsers()
    let sub = 'alice'
    const f = await fixture({
      users: {
        async authenticate(credentials, client) {
          return (await users.authenticate?.(credentials, client)) && { sub }
        },
      },
    })
    // This process remembers the user of the name.
    expect(await lasts(f, (await signIn(f, before)).body)).toBe(true)
    if (whose === 'another user') sub = 'successor'
    changeDuring(() => f.provider.revoke({ subject: sub }))
    expect(await lasts(f, (await signIn(f, before)).body)).toBe(false)
    expect(await lasts(f, (await signIn(f, after)).body)).toBe(true)
  },
)

test('a revocation during a sign-in does not lose it if the password still counts', async () => {
  const { users, onlyDuring } = slowUsers()
  const f = await fixture({ users })
  onlyDuring(() => f.provider.revoke({ subject: 'alice' }))
  expect(await lasts(f, (await signIn(f, before)).body)).toBe(true)
})

test('a grant that ends the earlier sessions of the user gives nothing after a change in between', async () => {
  const grantType = 'urn:example:alone'
  const { users, changeDuring } = slowUsers()
  const alone = testGrant({
    grantType,
    async handle({ scopes }, kit) {
      const subject = await kit.authenticateUser({ username: 'alice', password: before })
      if (subject === undefined) throw kit.refuse('invalid_grant', 'No', 'wrong_credentials')
      changeDuring(async () => {})
      await users.authenticate?.({ username: 'alice', password: '' })
      await f.provider.revoke({ subject: 'alice' })
      return { subject, scopes }
    },
  })
  const withGrant = clients
    .filter(({ clientId }) => clientId === web[0])
    .map((client) => ({ ...client, grantTypes: [...(client.grantTypes ?? []), grantType] }))
  const f: Fixture = await fixture({ users, plugins: [...builtInPlugins, alone], clients: withGrant })
  const { body } = await f.post('token', { grant_type: grantType, scope: 'openid offline_access' }, web)
  expect(await lasts(f, body)).toBe(false)
})

const isSignedIn = async (f: Awaited<ReturnType<typeof setUpSignIn>>, browser: ReturnType<typeof f.browser>) =>
  answer((await f.start({ prompt: 'none' }, browser)).page).error !== 'login_required'

describe('the sign-in page', () => {
  const ends = [
    ['a revocation', (f: SignIn) => f.provider.revoke({ subject: 'alice' })],
    ['the end of all sessions', (f: SignIn) => f.provider.use(userSessions).endAll('alice')],
  ] as const

  test.each(ends.flatMap(([name, end]) => [false, true].map((isRemembered) => ({ name, end, isRemembered }))))(
    'gives no session after $name, of a user whom it remembers: $isRemembered',
    async ({ end, isRemembered }) => {
      const { users, changeDuring } = slowUsers()
      const f = await setUpSignIn({}, { users })
      if (isRemembered) expect(nameOf(await (await f.start()).enter('alice', before))).toBe('consent')
      changeDuring(() => end(f))
      const { browser, enter } = await f.start()
      expect(nameOf(await enter('alice', before))).toBe('signIn')
      expect(await isSignedIn(f, browser)).toBe(false)
      expect(nameOf(await (await f.start()).enter('alice', after))).toBe('consent')
    },
  )

  test.each(ends)('gives no session for a passkey that is removed with %s while it is verified', async (_, end) => {
    const device = createAuthenticator()
    let isRemoved = false
    const find = async (id: string) => {
      if (id !== device.credentialId || isRemoved) return undefined
      // Between the read of the passkey and its end.
      isRemoved = true
      await end(f)
      return { sub: 'alice', publicKey: device.publicKey, counter: 0 }
    }
    const f: SignIn = await setUpSignIn({ passkeys: passkeys({ find }) })
    const { browser, page, submit } = await f.start()
    const challenge = /"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? ''
    expect(nameOf(await submit('signin', { credential: device.respond(challenge) }))).toBe('signIn')
    expect(await isSignedIn(f, browser)).toBe(false)
  })

  test.each(ends)('gives no session for a link to a provider that is removed with %s meanwhile', async (_, end) => {
    const { store } = memoryAccounts([{ ...aliceAccount, sub: 'alice' }])
    let act = async (): Promise<unknown> => undefined
    const f = await setUpUpstream({
      options: {
        accounts: {
          ...store,
          async find(sub) {
            const account = await store.find(sub)
            await act()
            return account
          },
        },
      },
    })
    const alice = await accountAs(f, 'alice')
    await alice.link()
    expect(nameOf(await f.comeBack(await f.leave()))).toBe('consent')
    const thief = await f.leave()
    act = async () => {
      act = async () => undefined
      await alice.browser.open(`${accountUrl}?action=forget`)
      await end(f)
    }
    expect(nameOf(await f.comeBack(thief))).toBe('signIn')
    expect(await isSignedIn(f, thief.browser)).toBe(false)
  })

  test.each(ends)('gives no session for a way that is confirmed just before %s', async (_, end) => {
    const door = 'https://id.example.com/connect/door'
    const way: SignInWays = {
      links: ({ id }) => [{ kind: 'provider', name: 'Door', url: `${door}?id=${id}` }],
      parts: (tools) => [
        defineEndpoint({
          name: 'door',
          path: '/connect/door',
          methods: ['GET'],
          caller: 'anyone',
          params: v.object({ id: v.string() }),
          async handle({ params: { id }, request }, kit) {
            const interaction = await tools.interactions.find(kit, request, id)
            if (interaction === undefined) return tools.expired(request, kit)
            // What is confirmed was read before the end.
            const confirm = () => end(f).then(() => true)
            return tools.signIn({ subject: { sub: 'alice', amr: ['door'] }, name: 'Alice', confirm }, interaction)
          },
          presentError: tools.presentError,
        }),
      ],
    }
    const f: SignIn = await setUpSignIn({ ways: [way] })
    const { browser, page } = await f.start()
    await browser.open(/"url":"([^"]+)"/u.exec(page.html)?.[1] ?? '')
    expect(await isSignedIn(f, browser)).toBe(false)
  })
})
