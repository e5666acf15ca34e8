import { decodeJwt } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer } from './browser.ts'
import { nameOf, ownPages, setUpPages } from './own-pages.ts'
import { alice, request, setUp } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

/** A provider, and a browser in which alice has signed in, 10 seconds ago. */
async function signedIn() {
  const f = await setUpPages()
  const browser = f.browser()
  const first = await f.redeem(answer(await f.signIn(browser)).code)
  f.clock.advance(10)
  const claimsOf = (body: { readonly id_token: string }) => decodeJwt(body.id_token)?.claims ?? {}
  const claims = async (code: string | undefined) => claimsOf((await f.redeem(code)).body)
  return { ...f, user: browser, first: claimsOf(first.body), token: first.body.id_token as string, claims }
}

describe('prompt=none', () => {
  test('11.13 without a session gets login_required, and no page', async () => {
    const { browser, ask } = await setUpPages()
    const page = await ask(browser(), { prompt: 'none', state: 's'.repeat(128) })
    expect(page.status).toBe(303)
    expect(answer(page)).toMatchObject({ error: 'login_required', state: 's'.repeat(128) })
  })

  test('11.13 with a session gets a code without a page, for the same user and authentication', async () => {
    const { user, ask, first, claims } = await signedIn()
    const { sub, auth_time } = await claims(answer(await ask(user, { prompt: 'none' })).code)
    expect([sub, auth_time]).toEqual([first.sub, first.auth_time])
  })

  test('11.13 shows no page and sets no cookie when the interaction wants one', async () => {
    const page = { interact: () => ({ html: 'consent', cookies: ['a=b; Path=/'] }) }
    const { browser, urlOf } = await setUp(page)
    const shown = await browser().open(urlOf({ ...request, prompt: 'none' }))
    expect(answer(shown)).toMatchObject({ error: 'login_required' })
    expect(shown.headers.getSetCookie()).toEqual([])
  })

  test('11.13 gets interaction_required if the session suffices and the interaction wants a page', async () => {
    let wantsPage = false
    const { browser, signIn, ask } = await setUpPages({}, {}, (interaction) =>
      wantsPage ? { html: 'consent' } : ownPages.interact(interaction),
    )
    const user = browser()
    await signIn(user)
    wantsPage = true
    expect(answer(await ask(user, { prompt: 'none' }))).toMatchObject({ error: 'interaction_required' })
  })

  test('11.13 accepts a user whom the host has signed in by itself', async () => {
    const { browser, urlOf } = await setUp()
    expect(answer(await browser().open(urlOf({ ...request, prompt: 'none' })))).toMatchObject(isCode)
  })

  test.each(['consent_required', 'account_selection_required'] as const)(
    '11.13 gets %s if the interaction refuses',
    async (refuse) => {
      const { browser, urlOf } = await setUp({ interact: () => ({ refuse }) })
      expect(answer(await browser().open(urlOf({ ...request, prompt: 'none' })))).toMatchObject({ error: refuse })
    },
  )
})

describe('prompt=login', () => {
  test('11.14 asks for a sign-in although there is a session, and the time of authentication is later', async () => {
    const { user, ask, submit, first, claims } = await signedIn()
    const page = await ask(user, { prompt: 'login' })
    expect(nameOf(page)).toBe('sign-in')
    const { auth_time } = await claims(answer(await submit(user, page, { username: 'alice' })).code)
    expect(auth_time).toBe(Number(first.auth_time) + 10)
  })

  test('11.14 a sign-in of another interaction does not count', async () => {
    const { user, ask, clock, signIn } = await signedIn()
    const page = await ask(user, { prompt: 'login' })
    const id = /value="([\w-]{43})"/u.exec(page.html)?.[1] ?? ''
    clock.advance(5)
    expect(answer(await signIn(user, 'alice', { prompt: 'login' }))).toMatchObject(isCode)
    const resumed = await user.open(`https://id.example.com/connect/authorize/resume?interaction=${id}`)
    expect(nameOf(resumed)).toBe('sign-in')
  })

  test.each([
    ['an authentication before the request', -1, { error: 'login_required' }],
    ['an authentication since the request', 0, isCode],
    ['no time of authentication, which is now', undefined, isCode],
  ])('11.14 of a host with its own sessions: %s', async (_name, age, expected) => {
    const { browser, urlOf } = await setUp({
      interact: ({ kit, request: { scopes } }) => ({
        subject: { ...alice, ...(age !== undefined && { authTime: kit.now() + age }) },
        scopes,
        trusted: true,
      }),
    })
    expect(answer(await browser().open(urlOf({ ...request, prompt: 'login' })))).toMatchObject(expected)
  })
})

describe('a decision for the session', () => {
  test.each([
    ['prompt=login', { prompt: 'login' }],
    ['max_age=0', { max_age: '0' }],
    ['prompt=login, with a session that begins in the same second', { prompt: 'login', nonce: 'x' }],
  ])('11.14 is refused although the session does not suffice for %s', async (_name, more) => {
    const { browser, signIn, ask } = await setUpPages({}, {}, async (interaction) => {
      if (interaction.session === undefined) return ownPages.interact(interaction)
      return { scopes: interaction.request.scopes, trusted: true }
    })
    const user = browser()
    await signIn(user)
    expect(answer(await ask(user, more))).toMatchObject({ error: 'login_required' })
  })
})

describe('prompt=select_account', () => {
  test('11.15 requires that the user chooses the account', async () => {
    const { user, ask, submit } = await signedIn()
    const page = await ask(user, { prompt: 'select_account' })
    expect(nameOf(page)).toBe('accounts')
    expect(answer(await submit(user, page, {}))).toMatchObject(isCode)
  })

  test('11.15 a sign-in in this interaction is a choice', async () => {
    const { user, ask, submit, claims } = await signedIn()
    const page = await ask(user, { prompt: 'select_account login' })
    const accounts = await submit(user, page, { username: 'bob' })
    expect((await claims(answer(await submit(user, accounts, {})).code)).sub).toBe('bob')
  })

  test('11.15 a decision for the session without a choice is refused', async () => {
    const { browser, signIn, ask } = await setUpPages({}, {}, (interaction) =>
      interaction.mustSignIn ? ownPages.interact(interaction) : { scopes: interaction.request.scopes, trusted: true },
    )
    const user = browser()
    await signIn(user)
    expect(answer(await ask(user, { prompt: 'select_account' }))).toMatchObject({ error: 'account_selection_required' })
  })
})

test.each(['x', 'none login', 'none none login', 'LOGIN', 'login,consent'])(
  '11.16 refuses prompt=%s',
  async (prompt) => {
    const { browser, urlOf } = await setUp()
    const page = await browser().open(urlOf({ ...request, prompt }))
    expect(answer(page)).toMatchObject({ error: 'invalid_request', state: request.state })
  },
)

test('11.16 accepts several prompts, and discovery lists them', async () => {
  const { browser, ask, provider } = await setUpPages()
  expect(nameOf(await ask(browser(), { prompt: 'login consent  select_account' }))).toBe('sign-in')
  expect(provider.metadata.prompt_values_supported).toEqual(['none', 'login', 'consent', 'select_account'])
})
