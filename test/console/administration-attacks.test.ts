import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'
import {
  type AdministrationServer,
  fillSignIn,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

// The administration in the browser is worth a takeover. An attacker could name a client so that the page shows, or runs,
// something else; plant the response of another sign-in; put the page into a frame; use a token that does not suffice, or
// is revoked; or count on two administrators who overwrite each other.

describeWithChromium('an attack on the administration in the browser', () => {
  let started: AdministrationServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let assertClean: () => void

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    context = await browser.newContext()
    ;({ page, assertClean } = await openAdministration(context, started.url))
    await heading(page, 'Clients')
  })
  beforeEach(async () => {
    // Another fragment would not load the page again.
    await page.goto('about:blank')
    await page.goto(`${started.url}#/clients`)
    await heading(page, 'Clients')
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  const open = async (id: string, name: string | RegExp = id) => {
    await page.goto(`${started.url}#/clients/${encodeURIComponent(id)}`)
    await heading(page, name)
  }

  test('a malicious name of a client is shown as it is, and nothing of it takes effect', async () => {
    const names = [
      '<img src=x onerror=alert(1)><script>alert(2)</script>',
      '\u202Egnp.knab\u202C \u2066x',
      'Bank\u0000\u0007\u001B[31m\nBank',
      'x'.repeat(100),
    ]
    for (const [index, clientName] of names.entries())
      await started.send('POST', '/clients', { clientId: `evil${index}`, public: true, clientName })
    await started.send('POST', '/clients', {
      clientId: '../../x?a=#b&c',
      public: true,
      tags: ['<b>tag</b>', '\u202Etag'],
    })
    await page.reload()
    await heading(page, 'Clients')
    const table = page.getByRole('table', { name: 'Clients' })
    const text = await table.innerText()
    expect(text).toContain('<img src=x onerror=alert(1)>')
    expect(text).toContain('\\u{202E}gnp.knab\\u{202C}')
    expect(text).toContain('Bank\\u{0}\\u{7}\\u{1B}[31m')
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/u)
    expect(await table.locator('img, script, b').count()).toBe(0)
    expect(await widthsOf(page)).toEqual(always(page.viewportSize()?.width ?? 0))
    await open('evil0', /<img src=x/u)
    expect(await page.title()).toContain('<img src=x')
    await open('evil1', /gnp\.knab/u)
    await page.getByText('It contains characters that are not visible: \\u{202E}gnp.knab').waitFor()
    await page.goto(`${started.url}#/clients`)
    await page.getByRole('link', { name: '../../x?a=#b&c' }).click()
    await heading(page, '../../x?a=#b&c')
    await page.getByRole('button', { name: 'Disable the client' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable the client' }).click()
    await page.getByText('The client is disabled.').waitFor()
    assertClean()
  })

  test('a stale version from a second tab changes nothing: both versions are shown, and nothing typed is lost', async () => {
    await started.send('POST', '/clients', {
      clientId: 'shared',
      public: true,
      clientName: 'Before',
      scopes: ['openid'],
    })
    await open('shared', 'Before')
    await page.getByLabel('Name', { exact: true }).fill('Mine')
    const { version } = await started.send('GET', '/clients/shared')
    await started.send('PATCH', '/clients/shared', { clientName: 'Theirs', tags: ['theirs'] }, `"${version}"`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Someone else has changed it' })
    expect(await dialog.getByRole('row', { name: /Name/u }).innerText()).toMatch(/Name\s+Before\s+Theirs\s+Mine/u)
    expect(await started.send('GET', '/clients/shared')).toMatchObject({ clientName: 'Theirs' })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // The form takes the members of the other version after the dialog has gone.
    await expect.poll(() => page.getByLabel('Tags').inputValue()).toBe('theirs')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.').waitFor()
    expect(await started.send('GET', '/clients/shared')).toMatchObject({ clientName: 'Mine', tags: ['theirs'] })
  })

  test.each([
    ['another tab', 'state=x'],
    ['no sign-in', 'state=x&iss=$'],
  ])('the response of %s is not redeemed', async (_, response) => {
    const requests: string[] = []
    const query = `?code=stolen&${response.replace('$', encodeURIComponent(started.issuer))}`
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await page.goto(`${started.url}${query}`)
    await heading(page, 'This sign-in was not started here')
    expect(requests).not.toContain('/connect/token')
    expect(page.url()).toBe(started.url)
    page.removeAllListeners('request')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(page, 'Clients')
  })

  test('a response that another server, or a mixed-up one, has issued is not redeemed', async () => {
    await page.route('**/connect/authorize?*', async (route) => {
      const { searchParams } = new URL(route.request().url())
      const state = searchParams.get('state') ?? ''
      const location = `${started.url}?code=stolen&state=${state}&iss=https%3A%2F%2Fattacker.example`
      await route.fulfill({ status: 302, headers: { location } })
    })
    await page.reload()
    await heading(page, 'This sign-in was not started here')
    await page.unrouteAll()
  })

  test('a token without the scope admin is refused, and the page states it', async () => {
    await page.route('**/connect/authorize?*', async (route) => {
      await route.continue({ url: route.request().url().replace('openid+admin', 'openid') })
    })
    await page.reload()
    await heading(page, 'This sign-in does not suffice')
    expect(await page.locator('#shell').isVisible()).toBe(false)
    await page.unrouteAll()
  })

  test('a frame of another page shows nothing', async () => {
    const framing = await context.newPage()
    await framing.setContent(`<iframe src="${started.url}"></iframe>`)
    await framing.waitForLoadState('networkidle')
    const texts = await Promise.all(
      framing
        .frames()
        .slice(1)
        .map((frame) => frame.locator('body').innerText()),
    )
    expect(texts.join('')).not.toContain('Grantry')
    await framing.close()
  })

  test('without a sign-in, a visitor gets no names, no events and no settings', async () => {
    const headers = { host: new URL(started.issuer).host }
    const setup = await (await fetch(`${started.issuer}/console/setup.json`, { headers })).json()
    expect(Object.keys(setup)).toEqual(['issuer', 'paths', 'administration'])
    for (const [path, authorization] of [
      ['/console/events', undefined],
      ['/console/events', 'Bearer x'],
      ['/console/setup.json', 'DPoP x'],
    ] as const) {
      const response = await fetch(started.issuer + path, { headers: { ...(authorization && { authorization }) } })
      expect([path, response.status]).toEqual([path, 401])
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      await response.body?.cancel()
    }
  })

  test('a revoked token ends the page, which signs in again and restores what was typed', async () => {
    await started.send('POST', '/clients', { clientId: 'kept', public: true })
    await open('kept')
    await page.getByLabel('Name', { exact: true }).fill('Not lost')
    await started.server.provider.revoke({ subject: 'alice-sub' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await heading(page, 'You are no longer signed in')
    await page.getByText('What you have typed is kept in this tab').waitFor()
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await fillSignIn(page, 'alice')
    await heading(page, 'kept')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Not lost')
    expect(await started.send('GET', '/clients/kept')).not.toHaveProperty('clientName')
  })

  test('a sign-out in one tab ends the other one', async () => {
    const otherTab = await openTab(context, started.url)
    await heading(otherTab.page, 'Clients')
    await otherTab.page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'You are signed out')
    expect(await page.locator('#shell').isVisible()).toBe(false)
    await otherTab.page.close()
  })
})
