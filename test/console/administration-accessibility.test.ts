import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'
import {
  type AdministrationServer,
  goTo,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// Each page of the administration fits in each window, is accessible, and can be used with the keyboard alone.

describeWithChromium('a page of the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void

  const go = async (hash: string, name: string | RegExp) => {
    await goTo(page, hash, name)
    await expect.poll(() => page.locator('[aria-busy], #page :text("Loading…")').count()).toBe(0)
  }

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    ;({ page, assertClean } = await openAdministration(await browser.newContext(), started.url))
    await heading(page, 'Clients')
    await started.send('POST', '/scopes', { name: 'orders' })
    await started.send('POST', '/clients', { clientId: 'web', grantTypes: ['client_credentials'], tags: ['shop'] })
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', password: 'carol-password' })
  })
  afterAll(async () => {
    assertClean()
    await browser?.close()
    await started?.server.close(0)
  })

  /** Presses Tab until the focus returns. Returns the controls that have shown it, and those that have not. */
  async function tabThrough() {
    const reached: string[] = []
    const hidden: string[] = []
    for (let presses = 0; presses < 120; presses += 1) {
      await page.keyboard.press('Tab')
      const at = await page.evaluate(() => {
        const { activeElement: active } = document
        if (active === null || active === document.body) return undefined
        const all = [...document.querySelectorAll('*')]
        const { top, bottom, left, right } = active.getBoundingClientRect()
        const { outlineStyle, boxShadow } = getComputedStyle(active)
        const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
        return { id: `${all.indexOf(active)}`, isShown: isInView && (outlineStyle !== 'none' || boxShadow !== 'none') }
      })
      if (at === undefined || reached.includes(at.id)) return { reached, hidden }
      reached.push(at.id)
      if (!at.isShown) hidden.push(at.id)
    }
    return { reached, hidden }
  }

  test.each(['#/clients', '#/clients/web', '#/users?new=yes', '#/users/carol-sub', '#/keys', '#/audit', '#/requests'])(
    'the keyboard reaches every control of %s, and shows where it is',
    async (hash) => {
      await page.setViewportSize({ width: 390, height: 900 })
      await go(hash, /\S/u)
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await page.locator('#server').click()
      const { reached, hidden } = await tabThrough()
      const controls = await page.evaluate(() => {
        const all = [...document.querySelectorAll('*')]
        return all
          .filter((element) => element.matches('a[href], button, input, select, textarea, summary'))
          .filter((control) => control.checkVisibility() && !control.matches(':disabled, .skip'))
          .map((control) => [`${all.indexOf(control)}`, control.outerHTML.slice(0, 120)] as const)
      })
      expect(controls.filter(([id]) => !reached.includes(id)).map(([, html]) => html)).toEqual([])
      expect(controls.filter(([id]) => hidden.includes(id)).map(([, html]) => html)).toEqual([])
    },
  )

  const pages = [
    ['#/clients', 'Clients'],
    ['#/clients/web', 'web'],
    ['#/clients?new=yes', 'Add a client'],
    ['#/scopes', 'Scopes'],
    ['#/scopes/orders', 'orders'],
    ['#/scopes?new=yes', 'Add a scope'],
    ['#/users', 'Users'],
    ['#/users?new=yes', 'Add a user'],
    ['#/users/carol-sub', 'Carol'],
    ['#/nothing', 'Clients'],
    ['#/clients/nothing', 'nothing'],
    ['#/keys', 'Signing keys'],
    ['#/audit', 'Audit trail'],
    ['#/requests', 'Requests and live events'],
  ] as const
  test.each(pages)('%s fits in each window, and axe finds no violation', async (hash, name) => {
    await go(hash, name)
    for (const [width, colorScheme] of [
      [390, 'light'],
      [320, 'dark'],
      [800, 'light'],
      [1280, 'light'],
      [1280, 'dark'],
      [3840, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect(await widthsOf(page)).toEqual(always(width))
      expect([width, await violationsIn(page)]).toEqual([width, []])
    }
  })
})
