import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import {
  type AdministrationServer,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

// Another user sits down at a browser where an administrator has signed out, and looks for what is left: a token, the key
// of the tokens, a new secret or names in a tab that is still open.

describeWithChromium('after a sign-out of the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    context = await browser.newContext()
    ;({ page } = await openAdministration(context, started.url))
    await heading(page, 'Clients')
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  /** The keys in the storage of the browser, and what can be exported of them. */
  const keptKeys = (tab: Page) =>
    tab.evaluate(async () => {
      const opened = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open('grantry-console')
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
      const stored = await new Promise<CryptoKeyPair[]>((resolve, reject) => {
        const request = opened.transaction('keys').objectStore('keys').getAll()
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
      opened.close()
      return Promise.all(
        stored.map(async ({ privateKey }) => ({
          extractable: privateKey.extractable,
          usages: privateKey.usages,
          exported: await Promise.all(
            (['jwk', 'pkcs8'] as const).map((format) =>
              crypto.subtle.exportKey(format, privateKey).then(
                () => 'exported',
                ({ name }: Error) => name,
              ),
            ),
          ),
        })),
      )
    })

  test('nothing of it is left: before, the key cannot be exported; afterwards, there is no key, no token and no text', async () => {
    expect(await keptKeys(page)).toEqual([
      { extractable: false, usages: ['sign'], exported: ['InvalidAccessError', 'InvalidAccessError'] },
    ])
    await started.send('POST', '/clients', { clientId: 'batch', grantTypes: ['client_credentials'] })
    await page.goto(`${started.url}#/clients/batch`)
    await heading(page, 'batch')
    await page.getByRole('button', { name: /^(?:Create a|Rotate the) secret$/u }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Create a (?:new )?secret$/u })
      .click()
    const secret = await page.locator('#secret').innerText()
    await page.getByLabel('Name', { exact: true }).fill('typed by alice')
    const otherTab = await openTab(context, started.url)
    await heading(otherTab.page, 'Clients')
    await otherTab.page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'You are signed out')
    await otherTab.page.waitForURL(/\/connect\//u)
    const left = await page.evaluate(() => document.documentElement.outerHTML)
    for (const text of [secret, 'batch', 'alice-sub', 'typed by alice']) expect(left).not.toContain(text)
    for (const tab of [page, otherTab.page]) {
      expect(await keptKeys(tab)).toEqual([])
      const stored = await tab.evaluate(async () => ({
        local: { ...localStorage },
        session: { ...sessionStorage },
        caches: await caches.keys(),
        name: window.name,
        state: history.state,
      }))
      expect(stored).toEqual({ local: {}, session: {}, caches: [], name: '', state: null })
    }
  })
})
