/**
 * Attack: a user was disabled or removed a moment ago, and the process still remembers that the user is active. For the seconds
 * of that memory, a thief signs in with a passkey, or gets a code, a device or a token for the user.
 */
import { passwords, type UserService } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationRequests, loginPage, remoteInteractions } from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization, deviceVerification } from '@grantry/plugins/device-authorization'
import { passkeys } from '@grantry/plugins/passkeys'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, testClient } from '@grantry/testing'
import { expect, test } from 'vitest'
import { withStoredUsers } from '../administration/stored-user-setting.ts'
import { alice, clients, request, setUp } from '../authorization/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { fixture } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

/** A user service that remembers an active user, until a session or an authorization begins. */
function remembering() {
  const state = { isActive: true }
  const users: UserService = {
    authenticate: () => ({ sub: 'alice' }),
    isActive: (_, { begins = false } = { begins: false }) => (begins ? state.isActive : true),
  }
  return { users, state }
}

test.each(['disable', 'remove'] as const)('users in the storage are read again after %s', async (act) => {
  let users: UserService = {}
  const f = await withStoredUsers((options) => {
    users = options.users
    return fixture(options)
  })
  await f.users.add({ sub: 'a', username: 'alice' })
  expect(await users.isActive?.('a', { begins: false })).toBe(true)
  await (act === 'disable' ? f.users.edit('a', { active: false }) : f.users.remove('a'))
  expect(await users.isActive?.('a', { begins: true })).toBe(false)
  // What requests remember is current afterwards.
  expect(await users.isActive?.('a', { begins: false })).toBe(false)
})

test('a passkey begins no session', async () => {
  const { users, state } = remembering()
  const device = createAuthenticator()
  const find = () => ({ sub: 'alice', publicKey: device.publicKey, counter: 0 })
  const f = await setUpSignIn({ passkeys: passkeys({ find }) }, { users })
  const { page, submit } = await f.start()
  state.isActive = false
  const challenge = /"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? ''
  const next = await submit('signin', { credential: device.respond(challenge) })
  expect(nameOf(next)).toBe('signIn')
  expect(f.events.some(({ type }) => type === 'session_started')).toBe(false)
})

test('a login page of the host sends no code', async () => {
  const { users, state } = remembering()
  const plugins = [authorizationCode(), proofKey(), refreshToken(), loginPage({ trusted: true })]
  const f = await createTestProvider({ users, plugins, clients: [...clients] })
  const requests = f.provider.use(authorizationRequests)
  const codeFor = async () => {
    const checked = await requests.parse(new Request(`https://id.example.com/login?${new URLSearchParams(request)}`))
    if ('response' in checked) throw new Error('The request was refused')
    const { response } = await requests.respond(checked, { subject: alice, scopes: checked.scopes, consented: true })
    return Object.fromEntries(new URL(response.headers.get('location') ?? 'x:').searchParams)
  }
  expect(await codeFor()).toHaveProperty('code')
  state.isActive = false
  expect(await codeFor()).toMatchObject({ error: 'login_required' })
})

test('a decision of a login application elsewhere gives no code', async () => {
  const { users, state } = remembering()
  const f = await setUp(
    { interact: async ({ suspend }) => ({ location: `https://login.example.net/?id=${(await suspend()).id}` }) },
    {},
    { users },
  )
  const browser = f.browser()
  const { url } = await browser.open(f.urlOf(request))
  const decision = { subject: alice, scopes: ['openid'] }
  const decided = await f.provider.use(remoteInteractions).complete(url.searchParams.get('id') ?? '', decision)
  state.isActive = false
  const { searchParams } = (await browser.open(decided ?? '')).url
  expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['login_required', null])
  expect(f.events.some(({ type }) => type === 'session_started')).toBe(false)
})

test('a device is not approved', async () => {
  const { users, state } = remembering()
  const f = await createTestProvider({
    users,
    plugins: [passwords, deviceAuthorization({ verificationUri: 'https://id.example.com/device' })],
  })
  const { body } = await f.post('deviceAuthorization', { scope: 'api1' }, testClient)
  state.isActive = false
  const approved = f.provider.use(deviceVerification).approve(body.user_code, '192.0.2.1', { subject: alice })
  await expect(approved).rejects.toMatchObject({ code: 'login_required' })
})

test('a grant that names its user gives no token', async () => {
  const { users, state } = remembering()
  const grantType = 'urn:example:named'
  const named = testGrant({
    grantType,
    handle: ({ scopes }) => ({ subject: alice, scopes }),
  })
  const f = await createTestProvider({ users, plugins: [named] })
  const form = { grant_type: grantType, scope: 'api1' }
  expect((await f.post('token', form, testClient)).status).toBe(200)
  state.isActive = false
  expect((await f.post('token', form, testClient)).status).toBe(400)
})
