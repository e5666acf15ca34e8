import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import {
  type AdministrationServer,
  fillSignIn,
  goTo,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

// A tab that is older than what it may do: its token has ended, or the browser is now signed in as another user, whom the
// first one must not act as.

describeWithChromium('an old tab of the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let context: BrowserContext
  let page: Page

  const go = (hash: string, name: string) => goTo(page, hash, name)

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    context = await browser.newContext()
    ;({ page } = await openAdministration(context, started.url))
    await heading(page, 'Clients')
    await started.send('POST', '/clients', { clientId: 'web', public: true })
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', password: 'carol-password' })
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  test('shows why second factors cannot be reset, after it has asked', async () => {
    await go('#/users/carol-sub', 'Carol')
    await page.getByRole('button', { name: 'Reset the second factors' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset the second factors' }).click()
    await page.getByRole('alert').filter({ hasText: 'can reset second factors and passkeys' }).waitFor()
  })

  test('opens no page with a token that can only read', async () => {
    const overview = async (route: Route) => {
      const response = await route.fetch()
      const json = await response.json()
      await route.fulfill({ response, json: { ...json, caller: { ...json.caller, canChange: false } } })
    }
    await page.route('**/admin/v1', overview, { times: 1 })
    await page.reload()
    await heading(page, 'This sign-in does not suffice')
    expect(await page.locator('#shell').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('#shell').waitFor()
  })

  test('shows nothing of the page for requests before its scripts have run', async () => {
    const { page: slow } = await openTab(await browser.newContext({ javaScriptEnabled: false }), started.url)
    expect(await slow.locator('#builder').isVisible()).toBe(false)
    await slow.context().close()
  })

  test('signs in again when the live events are refused because the token has ended', async () => {
    const refused = { status: 401, json: { error: 'invalid_token' } }
    await page.route('**/console/events', (route) => route.fulfill(refused), { times: 1 })
    await go('#/requests', 'Requests and live events')
    await page.getByText('You have been signed in again.').waitFor()
    await page.getByText('connected', { exact: true }).waitFor()
  })

  test('does not save as another user what the first one has typed', async () => {
    await go('#/clients/web', 'web')
    await page.getByLabel('Name', { exact: true }).fill('Typed by alice')
    await context.clearCookies()
    const otherTab = await openTab(context, started.url)
    await otherTab.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await fillSignIn(otherTab.page, 'bob')
    await heading(otherTab.page, 'You are not an administrator')
    await started.server.provider.revoke({ subject: 'alice-sub' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await heading(page, 'Another user has signed in')
    expect(await page.locator('#gate').innerText()).toMatch(/alice-sub.*bob-sub/su)
    await page.getByRole('button', { name: 'Go on as this user' }).click()
    await heading(page, 'You are not an administrator')
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(await started.send('GET', '/clients/web')).not.toHaveProperty('clientName')
  })
})
