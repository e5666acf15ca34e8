import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { demoInBrowser } from '../console/open-console.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium } from '../support/chromium.ts'

describeWithChromium('the application of the demo, in a browser', () => {
  const started = demoInBrowser()
  let context: BrowserContext | undefined
  afterEach(() => context?.close())

  async function openDemo(): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
    const { browser, demo } = started
    context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol !== 'data:' && origin !== new URL(demo.url).origin) problems.push(request.url())
    })
    await page.goto(new URL('/', demo.url).href)
    return { page, problems }
  }

  async function signIn(page: Page, user: string): Promise<void> {
    await page.getByRole('button', { name: `Sign in as ${user}` }).click()
    // The hint fills in the user name.
    expect(await page.getByLabel('User name').inputValue()).toBe(user)
    await page.getByLabel('Password').fill(`${user}-password`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  test('signs alice in with her consent, calls userinfo, and refreshes', async () => {
    const { page, problems } = await openDemo()
    expect(await violationsIn(page)).toEqual([])
    await signIn(page, 'alice')
    const scopes = await page.locator('#scopes li').allInnerTexts()
    expect(scopes).toContain('Call the first API on your behalf')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('You are signed in as Alice Smith').waitFor()
    const response = page.locator('#response')
    await page.getByRole('button', { name: 'Call userinfo' }).click()
    await response.filter({ hasText: 'alice@example.com' }).waitFor()
    await page.getByRole('button', { name: 'Refresh the tokens' }).click()
    await response.filter({ hasText: 'refresh_token' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    // A session needs no password. Other applications can listen on this machine, so the user is asked again.
    await page.evaluate(() => sessionStorage.clear())
    await page.goto(new URL('/', page.url()).href)
    await page.getByRole('button', { name: 'Sign in as alice' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('You are signed in as Alice Smith').waitFor()
    // The session ends without a question, and the browser returns to the application.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in as alice' }).click()
    await page.getByLabel('Password').waitFor()
    expect(problems).toEqual([])
  })

  test('shows a wrong password, and a denied consent', async () => {
    const { page, problems } = await openDemo()
    await page.getByRole('button', { name: 'Sign in as bob' }).click()
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'The user name or password is not correct.' }).waitFor()
    await page.getByLabel('Password').fill('bob-password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('The server responded with access_denied').waitFor()
    expect(problems).toEqual([])
  })

  test('asks before it signs out, without an identity token', async () => {
    const { page, problems } = await openDemo()
    await signIn(page, 'bob')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('You are signed in as Bob Jones').waitFor()
    const home = new URL('/', page.url()).href
    const parameters = new URLSearchParams({ client_id: 'demo-spa', post_logout_redirect_uri: home, state: 'a b&c' })
    const logout = new URL(`/connect/endsession?${parameters}`, home).href
    await page.goto(logout)
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await page.getByRole('heading', { name: 'You are still signed in' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.goto(logout)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${home}?state=a+b%26c`)
    await page.goto(new URL('/connect/endsession', home).href)
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    expect(problems).toEqual([])
  })
})
