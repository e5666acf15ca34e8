import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, cutWords, widthsOf } from '../support/fonts.ts'
import {
  type AdministrationServer,
  goTo,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// What an administrator stumbles over while working with the pages: words cut in two, a focus that is lost, a page
// without a way back, and values that only look as if they could be changed.

describeWithChromium('a page of the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void

  const go = (hash: string, name: string | RegExp) => goTo(page, hash, name)
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    ;({ page, assertClean } = await openAdministration(await browser.newContext(), started.url))
    await heading(page, 'Clients')
    await started.send('POST', '/scopes', { name: 'orders' })
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', password: 'carol-password' })
    await started.send('POST', '/users', { sub: 'dave-sub', username: 'Dave' })
  })
  afterAll(async () => {
    assertClean()
    await browser?.close()
    await started?.server.close(0)
  })

  test('states whether a user has a password, and offers no value to edit', async () => {
    await go('#/users/carol-sub', 'Carol')
    await page.getByText('The user has a password.').waitFor()
    expect(await page.getByText('Other members').count()).toBe(0)
    await go('#/users/dave-sub', 'Dave')
    await page.getByText('The user has no password, and cannot sign in with one.').waitFor()
  })

  test('a scope without a secret gets its first one, and the page states what it is for', async () => {
    await go('#/scopes/orders', 'orders')
    await page.getByText('An API introspects tokens with it.').waitFor()
    await page.getByRole('button', { name: 'Create a secret', exact: true }).click()
    await page.getByRole('dialog', { name: 'Create a secret' }).getByRole('button', { name: 'Create a secret' }).click()
    await page.locator('#secret').waitFor()
    await page.getByRole('button', { name: 'Rotate the secret', exact: true }).waitFor()
  })

  test.each([
    [
      'two audiences, one a line',
      'https://one.example.com\nhttps://two.example.com',
      ['https://one.example.com', 'https://two.example.com'],
    ],
    ['one audience', 'https://one.example.com', 'https://one.example.com'],
  ])('a scope can have %s', async (_name, typed, audience) => {
    await go('#/scopes/orders', 'orders')
    await page.getByLabel('Audience').fill(typed)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').first().waitFor()
    expect(await started.send('GET', '/scopes/orders')).toMatchObject({ audience })
    await page.reload()
    await heading(page, 'orders')
    expect(await page.getByLabel('Audience').inputValue()).toBe(typed)
  })

  test('what does not exist leads back to the list', async () => {
    await go('#/clients/nope', 'nope')
    await page.getByRole('link', { name: 'All clients' }).click()
    await heading(page, 'Clients')
  })

  test('ending a session keeps the focus beside the list', async () => {
    const context = await browser.newContext()
    const carol = await openAdministration(context, started.url, 'carol')
    await heading(carol.page, 'You are not an administrator')
    await context.close()
    await go('#/users/carol-sub', 'Carol')
    await page.getByRole('button', { name: /^End the session of/u }).click()
    await expect.poll(focused).toBe('The session has ended.')
  })

  test('asks before a reload loses what was typed on a page that the user has left', async () => {
    await started.send('POST', '/clients', { clientId: 'draft', public: true })
    await go('#/clients/draft', 'draft')
    await page.getByLabel('Name', { exact: true }).fill('Typed')
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await heading(page, 'Users')
    const asked = page.waitForEvent('dialog').then(async (dialog) => {
      await dialog.accept()
      return dialog.type()
    })
    await page.reload()
    expect(await asked).toBe('beforeunload')
    await heading(page, 'Users')
  })

  test.each(['#/audit', '#/keys', '#/clients'])('%s cuts no time, no address and no button in two', async (hash) => {
    await go(hash, /Audit trail|Signing keys|Clients/u)
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
    for (const width of [320, 390, 700, 1024, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await cutWords(page, 'td, td *, th time, th bdi')]).toEqual([width, always([])])
      expect(await widthsOf(page)).toEqual(always(width))
    }
  })

  test('a narrow audit trail shows who has made a change', async () => {
    await page.setViewportSize({ width: 390, height: 900 })
    await go('#/audit', 'Audit trail')
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
    expect(await page.getByRole('table').innerText()).toContain('client:ops')
  })
})
