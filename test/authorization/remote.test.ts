import { decodeJwt, isOAuthError } from '@grantry/core'
import { type InteractionPort, remoteInteractions } from '@grantry/plugins/authorization-endpoint'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer, type createBrowser } from './browser.ts'
import { alice, hostSignIn, request, setUp } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

/** Sends users to a login application on another host. */
const elsewhere: InteractionPort = {
  async interact({ request: { scopes }, mustSignIn, suspend }) {
    return mustSignIn
      ? { location: `https://login.example.net/?id=${(await suspend()).id}` }
      : { scopes, trusted: true }
  },
}

async function setUpRemote() {
  const f = await setUp(elsewhere)
  const remote = f.provider.use(remoteInteractions)
  /** Opens a request, and returns the id that the login application receives. */
  const begin = async (
    browser: ReturnType<typeof createBrowser>,
    parameters: Readonly<Record<string, string>> = {},
  ) => {
    const { url } = await browser.open(f.urlOf({ ...request, ...parameters }))
    expect(url.origin).toBe('https://login.example.net')
    return url.searchParams.get('id') ?? ''
  }
  return { ...f, remote, begin }
}

const decision = { subject: alice, name: 'Alice', scopes: ['openid'] }

describe('a login application elsewhere', () => {
  test('11.25 a login application on another host decides by the id, and the browser gets the code', async () => {
    const { remote, begin, browser, redeem, clock, urlOf } = await setUpRemote()
    const user = browser()
    const id = await begin(user, { login_hint: 'alice@example.com' })
    const interaction = await remote.find(id)
    expect(interaction).toMatchObject({ id, expiresAt: clock.now() + 1800 })
    expect(interaction?.request).toMatchObject({ loginHint: 'alice@example.com', scopes: ['openid', 'api1'] })
    const url = await remote.complete(id, decision)
    const { code } = answer(await user.open(url ?? ''))
    const { body } = await redeem(code)
    expect([body.scope, decodeJwt(body.id_token)?.claims.sub]).toEqual(['openid', 'alice'])
    // The sign-in has begun a session.
    expect(answer(await user.open(urlOf({ ...request, prompt: 'none' })))).toMatchObject(isCode)
  })

  test('11.25 the application can refuse', async () => {
    const { remote, begin, browser } = await setUpRemote()
    const user = browser()
    const id = await begin(user)
    const page = await user.open((await remote.refuse(id, 'access_denied')) ?? '')
    expect(answer(page)).toMatchObject({ error: 'access_denied', state: request.state })
    expect(await remote.find(id)).toBeUndefined()
  })

  test('11.25 an id without a decision leads to the application again', async () => {
    const { begin, browser, provider } = await setUpRemote()
    const user = browser()
    const id = await begin(user)
    const { url } = await user.open(`${provider.issuer}/connect/authorize/resume?interaction=${id}`)
    expect(url.href).toBe(`https://login.example.net/?id=${id}`)
  })

  test('11.25 a later decision replaces the earlier one', async () => {
    const { remote, begin, browser, redeem } = await setUpRemote()
    const user = browser()
    const id = await begin(user)
    const first = await remote.complete(id, decision)
    const second = await remote.complete(id, { ...decision, subject: { sub: 'bob', amr: ['pwd'] } })
    expect((await user.open(first ?? '')).status).toBe(400)
    const { code } = answer(await user.open(second ?? ''))
    expect(decodeJwt((await redeem(code)).body.id_token)?.claims.sub).toBe('bob')
  })

  test('11.25 a decision is used once, and expires with the request', async () => {
    const { remote, begin, browser, clock } = await setUpRemote()
    const user = browser()
    const url = (await remote.complete(await begin(user), decision)) ?? ''
    expect(answer(await user.open(url))).toMatchObject(isCode)
    expect((await user.open(url)).status).toBe(400)
    const late = browser()
    const id = await begin(late)
    const expired = (await remote.complete(id, decision)) ?? ''
    clock.advance(1800)
    expect((await late.open(expired)).status).toBe(400)
    expect([
      await remote.find(id),
      await remote.complete(id, decision),
      await remote.refuse(id, 'access_denied'),
    ]).toEqual([undefined, undefined, undefined])
  })

  test.each(['', 'x', 'x'.repeat(43), '__proto__'])('11.25 there is no request with the id %j', async (id) => {
    const { remote } = await setUpRemote()
    expect(await remote.find(id)).toBeUndefined()
    expect(await remote.complete(id, decision)).toBeUndefined()
  })

  test('11.25 the application learns that the request does not accept the user', async () => {
    const { remote, begin, browser } = await setUpRemote()
    const claims = JSON.stringify({ id_token: { sub: { value: 'bob' } } })
    const id = await begin(browser(), { claims })
    const failure = await remote.complete(id, decision).catch((error: unknown) => error)
    expect(isOAuthError(failure) && failure.code).toBe('login_required')
  })

  test('11.25 prompt=login accepts only an authentication since the request', async () => {
    const { remote, begin, browser, clock } = await setUpRemote()
    const user = browser()
    const startedAt = clock.now()
    const id = await begin(user, { prompt: 'login' })
    clock.advance(20)
    const old = { ...decision, subject: { ...alice, authTime: startedAt - 1 } }
    await expect(remote.complete(id, old)).rejects.toThrow('The user must sign in')
    expect(answer(await user.open((await remote.complete(id, decision)) ?? ''))).toMatchObject(isCode)
  })

  test('11.25 prompt=none never leads to the application', async () => {
    const { browser, urlOf } = await setUpRemote()
    const page = await browser().open(urlOf({ ...request, prompt: 'none' }))
    expect(answer(page)).toMatchObject({ error: 'login_required' })
  })

  test('11.25 mistakes of the application are its own', async () => {
    const { remote, begin, browser } = await setUpRemote()
    const id = await begin(browser())
    await expect(remote.complete(id, { ...decision, scopes: ['profile'] })).rejects.toThrow('not requested')
    const { provider } = await createTestProvider({ plugins: [] })
    expect(() => provider.use(remoteInteractions)).toThrow('add authorizationEndpoint() to the option plugins')
    const disabled = await setUp(hostSignIn, {}, { endpoints: { authorizationResume: false } })
    expect(() => disabled.provider.use(remoteInteractions)).toThrow('requires the endpoint authorizationResume')
  })
})
