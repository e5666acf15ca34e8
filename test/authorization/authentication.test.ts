import { decodeJwt } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer } from './browser.ts'
import { nameOf, setUpPages } from './own-pages.ts'
import { clients, request, setUp } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

/** A provider, and a browser in which alice has signed in, 10 seconds ago. */
async function signedIn(...options: Parameters<typeof setUpPages>) {
  const f = await setUpPages(...options)
  const user = f.browser()
  const { body } = await f.redeem(answer(await f.signIn(user)).code)
  f.clock.advance(10)
  return { ...f, user, hint: body.id_token as string, authTime: decodeJwt(body.id_token)?.claims.auth_time }
}

describe('max_age', () => {
  test.each([
    ['0', 'sign-in'],
    ['9', 'sign-in'],
    ['10', undefined],
    ['15000', undefined],
  ])('11.17 max_age=%s, 10 seconds after the sign-in, shows: %s', async (max_age, expected) => {
    const { user, ask } = await signedIn()
    expect(nameOf(await ask(user, { max_age }))).toBe(expected)
  })

  test('11.17 the identity token has the time of the new authentication', async () => {
    const { user, ask, submit, redeem, authTime } = await signedIn()
    const { code } = answer(await submit(user, await ask(user, { max_age: '1' }), { username: 'alice' }))
    expect(decodeJwt((await redeem(code)).body.id_token)?.claims.auth_time).toBe(Number(authTime) + 10)
  })

  test('11.17 the user can take long to sign in', async () => {
    const { user, ask, submit, clock } = await signedIn()
    const page = await ask(user, { max_age: '1' })
    clock.advance(1000)
    expect(answer(await submit(user, page, { username: 'alice' }))).toMatchObject(isCode)
  })

  test('11.17 with prompt=none gets login_required', async () => {
    const { user, ask } = await signedIn()
    expect(answer(await ask(user, { max_age: '1', prompt: 'none' }))).toMatchObject({ error: 'login_required' })
  })

  test('11.17 a client has a default', async () => {
    const strict = clients.map((client) => ({ ...client, defaultMaxAge: 1 }))
    const { user, ask } = await signedIn({}, { clients: strict })
    expect(nameOf(await ask(user))).toBe('sign-in')
    expect(answer(await ask(user, { max_age: '10' }))).toMatchObject(isCode)
  })

  test.each(['2147483647', '9223372036854775807', '9'.repeat(400)])(
    '11.17 max_age=%s, which libraries send for no limit, accepts any authentication',
    async (max_age) => {
      const { browser, urlOf } = await setUp()
      expect(answer(await browser().open(urlOf({ ...request, max_age })))).toMatchObject(isCode)
    },
  )

  test.each(['-1', '1.5', 'x', '1e3', '+1'])('11.17 refuses max_age=%s', async (max_age) => {
    const { browser, urlOf } = await setUp()
    expect(answer(await browser().open(urlOf({ ...request, max_age })))).toMatchObject({ error: 'invalid_request' })
  })

  test('11.17 an authentication of the host that is too old gets login_required', async () => {
    const { browser, urlOf } = await setUp()
    expect(answer(await browser().open(urlOf({ ...request, max_age: '99' })))).toMatchObject({
      error: 'login_required',
    })
    expect(answer(await browser().open(urlOf({ ...request, max_age: '100' })))).toMatchObject(isCode)
  })
})

describe('id_token_hint', () => {
  test('11.18 of the user of the session gets a code with prompt=none, also after the token has expired', async () => {
    const { user, ask, hint, clock } = await signedIn()
    clock.advance(1000)
    expect(answer(await ask(user, { id_token_hint: hint, prompt: 'none' }))).toMatchObject(isCode)
  })

  test('11.18 of another user gets login_required with prompt=none, and a sign-in otherwise', async () => {
    const { browser, ask, signIn, hint } = await signedIn()
    const bobsBrowser = browser()
    await signIn(bobsBrowser, 'bob')
    expect(answer(await ask(bobsBrowser, { id_token_hint: hint, prompt: 'none' }))).toMatchObject({
      error: 'login_required',
    })
    expect(nameOf(await ask(bobsBrowser, { id_token_hint: hint }))).toBe('sign-in')
    expect(answer(await signIn(bobsBrowser, 'alice', { id_token_hint: hint }))).toMatchObject(isCode)
  })

  test('11.18 another user who signs in gets login_required, never a code', async () => {
    const { browser, signIn, hint } = await signedIn()
    const { code, error } = answer(await signIn(browser(), 'bob', { id_token_hint: hint }))
    expect([code, error]).toEqual([undefined, 'login_required'])
  })

  test.each([
    ['no token', () => 'x'],
    ['a token with a changed signature', (hint: string) => `${hint.slice(0, -8)}AAAAAAAA`],
    ['a token with alg none', (hint: string) => `eyJhbGciOiJub25lIn0.${hint.split('.')[1]}.`],
    ['60,000 characters', () => 'x'.repeat(60_000)],
  ])('11.18 refuses %s', async (_name, of) => {
    const { user, ask, hint } = await signedIn()
    expect(answer(await ask(user, { id_token_hint: of(hint) }))).toMatchObject({ error: 'invalid_request' })
  })

  test('11.18 refuses a token of another client', async () => {
    const { user, ask, hint } = await signedIn({}, { clients: [...clients, { ...clients[0], clientId: 'other' }] })
    expect(answer(await ask(user, { id_token_hint: hint, client_id: 'other' }))).toMatchObject({
      error: 'invalid_request',
    })
  })
})

const claims = (identityToken: object) => ({ claims: JSON.stringify({ id_token: identityToken }) })

describe('the claims sub and acr', () => {
  test.each([
    ['value', { value: 'alice' }],
    ['values', { values: ['bob', 'alice'] }],
    ['an essential value', { value: 'alice', essential: true }],
  ])('11.19 a sub requested by %s must be that of the user', async (_name, sub) => {
    const { user, ask, browser, signIn } = await signedIn()
    expect(answer(await ask(user, { ...claims({ sub }), prompt: 'none' }))).toMatchObject(isCode)
    const { code, error } = answer(await signIn(browser(), 'mallory', claims({ sub })))
    expect([code, error]).toEqual([undefined, 'login_required'])
  })

  test('11.19 an essential acr asks for a sign-in that reaches it', async () => {
    const { user, ask, submit, redeem } = await signedIn()
    const acr = claims({ acr: { essential: true, values: ['gold', 'silver'] } })
    expect(answer(await ask(user, { ...acr, prompt: 'none' })).error).toMatch(/required|unmet/u)
    const page = await ask(user, acr)
    expect(nameOf(page)).toBe('sign-in')
    const { code } = answer(await submit(user, page, { username: 'alice', acr: 'silver' }))
    expect(decodeJwt((await redeem(code)).body.id_token)?.claims.acr).toBe('silver')
  })

  test('11.19 an essential acr that the sign-in does not reach gets unmet_authentication_requirements', async () => {
    const { browser, ask, submit } = await setUpPages()
    const user = browser()
    const page = await ask(user, claims({ acr: { essential: true, value: 'gold' } }))
    const { code, error } = answer(await submit(user, page, { username: 'alice', acr: 'silver' }))
    expect([code, error]).toEqual([undefined, 'unmet_authentication_requirements'])
  })

  test.each([
    ['acr_values', { acr_values: 'gold' }],
    ['a claim that is not essential', claims({ acr: { values: ['gold'] } })],
    ['an essential claim without values', claims({ acr: { essential: true } })],
  ])('11.19 an acr by %s is only preferred', async (_name, more) => {
    const { user, ask } = await signedIn()
    expect(answer(await ask(user, more))).toMatchObject(isCode)
  })

  test('11.19 discovery lists the classes that the interaction reaches', async () => {
    const { provider } = await setUpPages({ acrValues: ['gold', 'silver'] })
    expect(provider.metadata.acr_values_supported).toEqual(['gold', 'silver'])
    expect((await setUpPages()).provider.metadata.acr_values_supported).toBeUndefined()
  })
})
