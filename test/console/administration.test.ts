import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import {
  type AdministrationServer,
  fillSignIn,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

// What an administrator does in the browser, on a real server: the page, the API, the sign-in.

describeWithChromium('the administration in the browser', () => {
  let started: AdministrationServer
  let browser: Browser
  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  test('signs in on the pages of the server, lists clients, and signs in again silently after a reload', async () => {
    const context = await browser.newContext()
    const { page, assertClean } = await openAdministration(context, started.url)
    await heading(page, 'Clients')
    await page.getByText('There are no clients in the storage yet').waitFor()
    expect(page.url()).toBe(started.url)
    await page.reload()
    await heading(page, 'Clients')
    const kept = await page.evaluate(async () => ({
      local: localStorage.length,
      session: sessionStorage.length,
      cookie: document.cookie,
      databases: (await indexedDB.databases()).map(({ name }) => name),
    }))
    expect(kept).toEqual({ local: 0, session: 0, cookie: '', databases: ['grantry-console'] })
    assertClean()
    await context.close()
  })

  test('adds a client, shows its secret once, and returns to the same page after a reload', async () => {
    const context = await browser.newContext()
    const { page, assertClean } = await openAdministration(context, started.url)
    await heading(page, 'Clients')
    await page.getByRole('link', { name: 'Add a client' }).click()
    await heading(page, 'Add a client')
    await page.getByLabel('Client id').fill('batch')
    await page.getByLabel('Grant types').fill('client_credentials')
    await page.getByRole('button', { name: 'Add the client' }).click()
    await heading(page, 'batch')
    const secret = await page.locator('#secret').innerText()
    expect(secret.length).toBeGreaterThan(30)
    await page.reload()
    await heading(page, 'batch')
    expect(await page.locator('#secret').count()).toBe(0)
    await page.goBack()
    assertClean()
    await context.close()
  })

  test('tells a user who is not an administrator, who can sign in as another user', async () => {
    const context = await browser.newContext()
    const { page } = await openAdministration(context, started.url, 'bob')
    await heading(page, 'You are not an administrator')
    expect(await page.locator('#shell').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Sign in as another user' }).click()
    await page.getByRole('button', { name: /other|another/iu }).click()
    await fillSignIn(page, 'alice')
    await heading(page, 'Clients')
    await context.close()
  })

  test('signs in when the server demands pushed requests and nonces', async () => {
    const plugins = [
      { name: 'sign-in', pushedRequests: { required: true } },
      { name: 'admin', administrators: ['alice-sub'] },
      { name: 'dpop', nonce: true },
    ]
    const strict = await startAdministrationServer({ clients: [], plugins })
    try {
      const { page, assertClean } = await openAdministration(await browser.newContext(), strict.url)
      await heading(page, 'Clients')
      await page.getByRole('link', { name: 'Audit trail' }).click()
      await page.getByText('Nothing has been changed yet.').waitFor()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page.getByText('connected', { exact: true }).waitFor()
      assertClean()
    } finally {
      await strict.server.close(0)
    }
  })

  test.each([-1, 1])('signs in and reads on a device whose clock is wrong by %d hours', async (hours) => {
    const context = await browser.newContext()
    await context.addInitScript(`{ const right = Date.now; Date.now = () => right() + ${hours * 3_600_000} }`)
    const { page } = await openAdministration(context, started.url)
    await heading(page, 'Clients')
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByText('connected', { exact: true }).waitFor()
    await context.close()
  })

  test('is linked to by the fragment', async () => {
    const context = await browser.newContext()
    await openAdministration(context, started.url).then(({ page }) => heading(page, 'Clients'))
    const { page } = await openTab(context, `${started.url}#/clients/batch`)
    await heading(page, 'batch')
    await context.close()
  })
})
