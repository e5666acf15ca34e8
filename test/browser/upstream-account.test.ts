import { serve } from '@grantry/adapters/node'
import { webRuntime } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { accountPage } from '@grantry/plugins/account'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { endSession } from '@grantry/plugins/end-session'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { grantry, upstream } from '@grantry/plugins/upstream'
import { createTestProvider } from '@grantry/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

// Users of one Grantry link accounts at another one, and sign out of both.

const goodbye = 'https://shop.example.com/goodbye'

/** Users whose passwords follow from their names. */
const usersOf = (prefix: string) => ({
  authenticate: ({ username, password }: { readonly username: string; readonly password: string }) =>
    password === `${username}-password` ? { sub: `${prefix} ${username}` } : undefined,
  claims: () => ({}),
})

let issuer: string
let otherIssuer: string
let browser: Browser
const closing: (() => Promise<void>)[] = []

const publicClient = { public: true, grantTypes: ['authorization_code'], scopes: ['openid'] }

/** The other Grantry, which knows the first one as a client. */
async function startOther(): Promise<void> {
  const pages = createPages({ name: 'Other' })
  const client = {
    ...publicClient,
    clientId: 'grantry',
    requireConsent: false,
    redirectUris: [`${issuer}/connect/upstream/grantry/callback`],
    postLogoutRedirectUris: [`${issuer}/connect/endsession/return`],
  }
  const features = [endSession({ pages })]
  const endpoint = authorizationEndpoint({ interaction: signIn({ pages }), pages, features })
  const { provider } = await createTestProvider({
    issuer: otherIssuer,
    clients: [client],
    plugins: [authorizationCode(), proofKey(), endpoint],
    users: usersOf('other'),
    runtime: { now: webRuntime.now },
  })
  const server = await serve(provider, { port: Number(new URL(otherIssuer).port) })
  closing.push(() => server.close(1))
}

async function start(): Promise<void> {
  const pages = createPages({ name: 'Example' })
  const there = { issuer: otherIssuer, clientId: 'grantry', scope: 'openid', allowPrivateAddresses: true }
  const way = upstream({ providers: [{ ...grantry(there), displayName: 'Other', logout: true }] })
  const features = [
    accountPage({ pages: createAccountPages(), linkedProviders: way }),
    endSession({ pages, providers: way }),
  ]
  const endpoint = authorizationEndpoint({ interaction: signIn({ pages, ways: [way] }), pages, features })
  const shop = { ...publicClient, clientId: 'shop', redirectUris: ['https://shop.example.com/'] }
  const { provider } = await createTestProvider({
    issuer,
    clients: [{ ...shop, postLogoutRedirectUris: [goodbye] }],
    plugins: [authorizationCode(), proofKey(), endpoint],
    users: usersOf('here'),
    runtime: { now: webRuntime.now },
  })
  const server = await serve(provider, { port: Number(new URL(issuer).port) })
  closing.push(() => server.close(1))
}

async function enter(page: Page, username: string): Promise<void> {
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(`${username}-password`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

describeWithChromium('an account at another Grantry, in a browser', () => {
  beforeAll(async () => {
    const ports = [await reservedPort(), await reservedPort()]
    ;[issuer = '', otherIssuer = ''] = ports.map((port) => `http://127.0.0.1:${port}`)
    ;[browser] = await Promise.all([startChromium(), startOther(), start()])
  })
  afterAll(() => Promise.all([browser?.close(), ...closing.map((close) => close())]))

  async function open(javaScriptEnabled: boolean) {
    const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 390, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${issuer}/account`)
    return { context, page }
  }

  test.each([
    ['alice', false],
    ['bob', true],
  ] as const)(
    '20.48 20.49 %s links it, signs in with it, and removes it, with script: %s',
    async (user, withScript) => {
      const first = await open(withScript)
      await enter(first.page, user)
      await first.page.getByRole('link', { name: 'Link an account at Other' }).click()
      await first.page.getByText('Link your account at Other?').waitFor()
      if (withScript) expect(await violationsIn(first.page)).toEqual([])
      await first.page.getByRole('link', { name: 'Continue to Other' }).click()
      await enter(first.page, `${user}-there`)
      await first.page.getByText('The account is linked.').waitFor()
      if (withScript) expect(await violationsIn(first.page)).toEqual([])

      // In another browser, the account there leads to the same user here.
      const second = await open(withScript)
      await second.page.getByRole('link', { name: 'Continue with Other' }).click()
      await enter(second.page, `${user}-there`)
      const remove = (page: Page) => page.getByRole('link', { name: /^Remove: Other/u })
      await remove(second.page).click()
      await second.page.locator('button#confirm').click()
      await second.page.getByText('Your account needs another way to sign in.').waitFor()
      await second.context.close()

      await remove(first.page).click()
      await first.page.getByText('Remove your account at Other?').waitFor()
      await first.page.locator('button#confirm').click()
      await first.page.getByText('The account is no longer linked.').waitFor()
      expect(await remove(first.page).count()).toBe(0)
      await first.context.close()
    },
  )

  test.each([
    ['carol', false],
    ['dave', true],
  ] as const)('18.16 %s signs out here and there, with script: %s', async (user, withScript) => {
    const { context, page } = await open(withScript)
    await page.getByRole('link', { name: 'Continue with Other' }).click()
    await enter(page, user)
    await page.locator('#sessions').waitFor()
    const query = new URLSearchParams({ client_id: 'shop', post_logout_redirect_uri: goodbye })
    await page.goto(`${issuer}/connect/endsession?${query}`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    // The other one asks, too.
    await page.waitForURL(`${otherIssuer}/**`)
    const arrived = page.waitForRequest(goodbye)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click({ noWaitAfter: true })
    await arrived
    const next = await context.newPage()
    await next.goto(`${issuer}/account`)
    await next.getByRole('link', { name: 'Continue with Other' }).click()
    await next.getByLabel('User name').waitFor()
    await context.close()
  })
})
