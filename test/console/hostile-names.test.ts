import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { inEachFont } from '../support/fonts.ts'
import {
  type AdministrationServer,
  goTo,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// An attacker who can register a client, choose a user name or write into the storage decides texts that an administrator
// sees. Here every text of every response of the admin API is from the attacker, also where the API would refuse it: it
// must not run, be a link to elsewhere, turn other text around, hide in it, or push it out of the window.

const texts = {
  markup: '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script><b>x</b>',
  'a script as URI': 'javascript:document.title="taken"//',
  'a page as URI': 'data:text/html,<script>parent.document.title="taken"</script>',
  'an override of the writing direction': '\u202Ekcatta\u2066 \u2067x\u061C\u200F',
  'control characters': 'Bank\u0000\u0007\u001B[31m\r\n\u2028\u0085x',
  'characters without a picture': 'Ba\u3164n\u115F\uFE0Fk\u034F\u{E0101}\u{E0041}\u00AD',
  'marks that pile up': `a${'\u0300\u0489'.repeat(100)}`,
  '2,000 characters in one word': 'W'.repeat(2000),
  'a way out of the path': '../../../x?a=#/keys',
} as const

const pages = [
  '#/clients',
  '#/clients/web',
  '#/clients?new=yes',
  '#/scopes',
  '#/scopes/orders',
  '#/users',
  '#/users/carol-sub',
  '#/keys',
  '#/audit',
  '#/requests',
] as const

/** What a response has besides texts that are shown: its form. */
const structure = new Set(['resources'])

/** Returns JSON with another text instead of each one. */
function replaced(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.map((part) => replaced(part, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, structure.has(name) ? part : replaced(part, text)]),
  )
}

/** What is wrong with a page that shows such texts. Runs in the page. */
function findProblems(): readonly string[] {
  const shell = document.querySelector('#shell') as HTMLElement
  const dialog = document.querySelector('dialog')
  const text = `${document.title}\n${shell.innerText}\n${dialog?.innerText ?? ''}`
  const labels = [...document.querySelectorAll('[aria-label]')]
    .map((element) => element.getAttribute('aria-label'))
    .join()
  const all = [...document.querySelectorAll('#shell :not(.skip), dialog, dialog *')]
  const { clientWidth } = document.documentElement
  const markup = all.filter(({ localName }) => ['img', 'script', 'b', 'iframe'].includes(localName))
  const links = [...document.querySelectorAll('#shell a')].map((link) => link.getAttribute('href') ?? '')
  const wide = all.filter((element) => {
    const { left, right, width, height } = element.getBoundingClientRect()
    return width > 0 && height > 1 && element.checkVisibility() && (right > clientWidth + 1 || left < -1)
  })
  const inPane = (element: Element) => element.parentElement?.closest('.scroll, pre') !== null
  return [
    ...markup.map(({ localName }) => `element ${localName}`),
    ...links.filter((href) => !/^#(?:page-title|\/)/u.test(href)).map((href) => `link ${href}`),
    ...wide.filter((element) => !inPane(element)).map(({ outerHTML }) => `sticks out ${outerHTML.slice(0, 120)}`),
    ...(document.documentElement.scrollWidth > clientWidth ? ['scrolls sideways'] : []),
    ...[...`${text}${labels}`.matchAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{DI}\u2028\u2029]/gu)].map(
      ([character]) => `hidden U+${character.codePointAt(0)?.toString(16)}`,
    ),
    ...(/\p{M}{4}/u.test(text) ? ['marks pile up'] : []),
    ...(/taken$/u.test(document.title) ? ['a script has run'] : []),
  ]
}

describeWithChromium('a text from an attacker', () => {
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void
  let text = ''

  const settled = () => expect.poll(() => page.locator('#page[aria-busy], #page :text("Loading…")').count()).toBe(0)
  const go = async (hash: string) => {
    await goTo(page, hash, /\S/u)
    await settled()
  }
  /** Collects what is wrong in a narrow and in a wide window. */
  async function problems(where: string): Promise<readonly string[]> {
    const wrong: string[] = []
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      for (const [font, list] of Object.entries(await inEachFont(page, findProblems)))
        wrong.push(...list.map((problem) => `${where} at ${width}, ${font} font: ${problem}`))
    }
    return wrong
  }
  async function attack(route: Route): Promise<void> {
    const { pathname } = new URL(route.request().url())
    if (text === '' || pathname.endsWith('/openapi.json') || route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, json: replaced(await response.json(), text) })
  }

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    ;({ page, assertClean } = await openAdministration(await browser.newContext(), started.url))
    page.on('dialog', (dialog) => void dialog.dismiss())
    await heading(page, 'Clients')
    const uri = 'https://shop.example.com/'
    await started.send('POST', '/scopes', { name: 'orders', claims: ['email'], tags: ['a', 'b'], audience: 'x' })
    await started.send('POST', '/clients', {
      clientId: 'web',
      clientName: 'x',
      tags: ['a', 'b'],
      scopes: ['orders'],
      grantTypes: ['client_credentials'],
      redirectUris: [uri],
      logoUri: uri,
      policyUri: uri,
      contacts: ['x'],
    })
    const claims = { name: 'x', roles: ['a', 'b'] }
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', claims, tags: ['a'] })
    await started.send('POST', '/clients/web/rotate-secret', { overlap: 60 })
    const users = { items: [{ clientId: 'x', scopes: ['a', 'b'], claims: ['c'] }] }
    await page.route('**/admin/v1/users/*/consents', (route) => route.fulfill({ json: replaced(users, text) }))
    const sessions = { items: [{ sid: 'x', startedAt: 1, expiresAt: 2, amr: ['a', 'b'] }] }
    await page.route('**/admin/v1/users/*/sessions', (route) => route.fulfill({ json: replaced(sessions, text) }))
    await page.route(/\/admin\/v1\/(?!.*(?:consents|sessions)$)/u, attack)
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  test.each(Object.keys(texts) as (keyof typeof texts)[])('has no effect on any page: %s', async (name) => {
    const wrong: string[] = []
    for (const hash of pages) {
      text = texts[name]
      await go(hash)
      await page.locator('#page details').evaluateAll((all) => {
        for (const details of all) details.setAttribute('open', '')
      })
      wrong.push(...(await problems(hash)))
      const button = page.getByRole('button', { name: /^(?:Remove the|Retire the key)/u }).first()
      if ((await button.count()) > 0) {
        await button.click()
        wrong.push(...(await problems(`the dialog of ${hash}`)))
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
    }
    text = ''
    await go('#/clients')
    expect(wrong).toEqual([])
    assertClean()
  })
})
