/**
 * Attack: a thief of a password has an answer in waiting when the user or an operator ends everything: the ticket of a
 * login application, the proof of the password before a second factor, an open page, a form of the page for devices, or
 * a request in progress. None of them may give a session or a code afterwards.
 *
 * The host calls `revoke({ subject })` or `endAll()` when a user has a new password.
 */
import type { AtomicDriver } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, remoteInteractions, userSessions } from '@grantry/plugins/authorization-endpoint'
import { totp } from '@grantry/plugins/one-time-password'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { alice, hostSignIn, request, setUp } from '../authorization/parties.ts'
import { createBrowser, setUpPage } from '../device-authorization/browser.ts'
import { setUp as setUpDevice } from '../device-authorization/parties.ts'
import { pushed, setUp as setUpPushed } from '../pushed-authorization/parties.ts'
import { passwordAt, secret } from '../sign-in/one-time-password-parties.ts'
import { nameOf, setUpSignIn, testPages } from '../sign-in/parties.ts'

type F = Awaited<ReturnType<typeof setUp>>
type Endpoint = ReturnType<typeof authorizationEndpoint>

/** What ends everything of alice. */
const ends: readonly [string, (f: Pick<F, 'provider'>) => Promise<unknown>][] = [
  ['revoke({ subject })', ({ provider }) => provider.revoke({ subject: 'alice' })],
  ['endAll()', ({ provider }) => provider.use(userSessions).endAll('alice')],
]

const pluginsWith = (endpoint: Endpoint) => [authorizationCode(), proofKey(), refreshToken(), endpoint]

describe('the ticket of a login application', () => {
  async function withTicket() {
    const endpoint = authorizationEndpoint({
      interaction: {
        interact: async ({ mustSignIn, suspend, request: { scopes } }) =>
          mustSignIn
            ? { location: `https://login.example.net/?id=${(await suspend()).id}` }
            : { scopes, trusted: true },
      },
      interactionLifetime: 86_400,
    })
    const f = await setUp(hostSignIn, {}, { plugins: pluginsWith(endpoint) })
    const remote = f.provider.use(remoteInteractions)
    const thief = f.browser()
    const id = (await thief.open(f.urlOf(request))).url.searchParams.get('id') ?? ''
    const decision = { subject: alice, name: 'Alice', scopes: ['openid'] }
    const url = (await remote.complete(id, decision)) ?? ''
    return { ...f, thief, remote, id, decision, url }
  }

  test.each(ends)('gives no code after %s', async (_name, end) => {
    const { thief, url, ...f } = await withTicket()
    await end(f)
    const refused = await thief.open(url)
    expect([refused.status, answer(refused).code]).toEqual([400, undefined])
    expect(answer(await thief.open(f.urlOf({ ...request, prompt: 'none' })))).toMatchObject({ error: 'login_required' })
  })

  test('gives no code many hours after endAll()', async () => {
    const { thief, url, clock, provider } = await withTicket()
    await provider.use(userSessions).endAll('alice')
    clock.advance(86_000)
    expect((await thief.open(url)).status).toBe(400)
  })

  test('gives a code again if the user decides afterwards', async () => {
    const { thief, remote, id, decision, provider } = await withTicket()
    await provider.revoke({ subject: 'alice' })
    expect(answer(await thief.open((await remote.complete(id, decision)) ?? ''))).toHaveProperty('code')
  })
})

describe('the proof of a password', () => {
  const secondFactors = [totp({ secretOf: () => secret })]

  async function atSecondFactor() {
    const endpoint = authorizationEndpoint({ interaction: signIn({ pages: testPages, secondFactors }) })
    const f = await setUpSignIn({}, { plugins: pluginsWith(endpoint) })
    const { browser, enter } = await f.start()
    const page = await enter('alice')
    expect(nameOf(page)).toBe('secondFactor')
    const enterCode = () =>
      browser.submit(`${f.provider.issuer}/connect/secondfactor`, {
        ...hiddenFields(page),
        code: passwordAt(f.clock.now()),
      })
    return { ...f, browser, enter, enterCode }
  }

  test.each(ends)('begins no session after %s, also with the right code', async (_name, end) => {
    const { browser, enterCode, ...f } = await atSecondFactor()
    await end(f)
    const refused = await enterCode()
    expect([nameOf(refused), refused.html]).toEqual(['signIn', expect.stringContaining('form_expired')])
    expect(browser.jar.has('__Host-grantry-session')).toBe(false)
  })

  test('is not spoiled by the end of other users', async () => {
    const { provider, enterCode } = await atSecondFactor()
    await provider.revoke({ subject: 'bob' })
    expect(nameOf(await enterCode())).toBe('consent')
  })
})

test('a password that is checked during the revocation begins no session', async () => {
  const memory = memoryDriver()
  let hasAnswered = false
  let revoke = async (): Promise<unknown> => undefined
  const storage: AtomicDriver = {
    ...memory,
    async commit(changes) {
      // The answer of the user service is on its way: its attempt is settled.
      if (hasAnswered) {
        hasAnswered = false
        await revoke()
      }
      return memory.commit?.(changes) ?? true
    },
  }
  const users = {
    authenticate: ({ username }: { readonly username: string }) => {
      hasAnswered = true
      return { sub: username }
    },
  }
  const f = await setUpSignIn({}, { users, storage })
  revoke = () => f.provider.revoke({ subject: 'alice' })
  const { browser, enter } = await f.start()
  await enter('alice')
  expect(hasAnswered).toBe(false)
  expect(answer((await f.start({ prompt: 'none' }, browser)).page)).toMatchObject({ error: 'login_required' })
})

describe('a request whose interaction is in progress', () => {
  test('gets no code if the user of its session is revoked meanwhile', async () => {
    let during: () => Promise<unknown> = async () => undefined
    const f = await setUp({
      async interact({ request: { scopes }, session, suspend }) {
        if (session === undefined) return { location: `https://login.example.net/?id=${(await suspend()).id}` }
        await during()
        return { scopes, trusted: true }
      },
    })
    const thief = f.browser()
    const remote = f.provider.use(remoteInteractions)
    const id = (await thief.open(f.urlOf(request))).url.searchParams.get('id') ?? ''
    const url = await remote.complete(id, { subject: alice, scopes: ['openid'] })
    expect(answer(await thief.open(url ?? ''))).toHaveProperty('code')
    during = () => f.provider.revoke({ subject: 'alice' })
    expect(answer(await thief.open(f.urlOf(request)))).toMatchObject({ error: 'login_required' })
  })
})

describe('the page for devices', () => {
  test('a form from before the revocation approves nothing', async () => {
    const { start, poll, provider } = await setUpPage()
    const device = (await start()).body
    const thief = createBrowser(provider, 'alice')
    const form = await thief.open({ user_code: device.user_code })
    await provider.revoke({ subject: 'alice' })
    await thief.submit({ form_token: form.token, decision: 'approve' })
    expect((await poll(device.device_code)).body.error).toBe('authorization_pending')
    const again = await thief.open({ user_code: device.user_code })
    await thief.submit({ form_token: again.token, decision: 'approve' })
  })

  test('a code from before the revocation of its client is unknown', async () => {
    const { start, provider, page } = await setUpDevice()
    const device = (await start()).body
    expect(await page.find(device.user_code, '192.0.2.1')).toBeDefined()
    await provider.revoke({ clientId: 'other' })
    expect(await page.find(device.user_code, '192.0.2.1')).toBeDefined()
    await provider.revoke({ clientId: 'tv' })
    expect(await page.find(device.user_code, '192.0.2.1')).toBeUndefined()
    expect(await page.approve(device.user_code, '192.0.2.1', { subject: alice })).toBe(false)
    expect(await page.find((await start()).body.user_code, '192.0.2.1')).toBeDefined()
  })
})

describe('a request that a client has pushed before it was revoked', () => {
  test('is unknown', async () => {
    const { push, provider, browser, urlOf } = await setUpPushed()
    const { request_uri } = (await push(pushed)).body
    await provider.revoke({ clientId: 'web' })
    expect((await browser().open(urlOf({ client_id: 'web', request_uri }))).status).toBe(400)
  })

  test('gets no code if its user was on the page of the sign-in', async () => {
    const endpoint = authorizationEndpoint({
      interaction: signIn({ pages: testPages }),
      features: [pushedAuthorization()],
    })
    const f = await setUpSignIn({}, { plugins: pluginsWith(endpoint) })
    const { body } = await f.post('pushedAuthorization' as never, pushed, ['web', 'web-secret'])
    const user = f.browser()
    const page = await user.open(f.urlOf({ client_id: 'web', request_uri: String(body.request_uri) }))
    await f.provider.revoke({ clientId: 'web' })
    const form = { ...hiddenFields(page), username: 'alice', password: 'alice-password' }
    const consent = await user.submit(`${f.provider.issuer}/connect/signin`, form)
    const last = await user.submit(`${f.provider.issuer}/connect/consent`, {
      ...hiddenFields(consent),
      decision: 'allow',
    })
    expect(answer(last).code).toBeUndefined()
  })
})
