import { serve } from '@grantry/adapters/node'
import { webRuntime } from '@grantry/core'
import { userConsents } from '@grantry/plugins/authorization-endpoint'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { redirectUri, web } from '../authorization/parties.ts'
import { choiceProvider, files } from '../sign-in/choosing.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'
import { reservedPort } from '../support/reserved-port.ts'

const appearance = {
  resources: { [files]: 'Files MCP' },
  scopes: { read: 'Read your files', 'files:write': 'Change and delete your files' },
}
const labels = ['Read your files', 'Change and delete your files', 'Keep this access while you are away']

describeWithChromium('the choice of scopes, in a browser', () => {
  let browser: Browser
  let f: Awaited<ReturnType<typeof choiceProvider>>
  let close: () => Promise<void>
  beforeAll(async () => {
    const port = await reservedPort()
    const change = {
      clientName: 'Example Assistant',
      selfDescribed: 'ask' as const,
      clientUri: 'https://app.example.com',
    }
    const place = { issuer: `http://localhost:${port}`, runtime: { now: webRuntime.now } }
    f = await choiceProvider(change, appearance, place)
    const running = await serve(f.provider, { port })
    close = () => running.close()
    browser = await startChromium()
  })
  afterAll(() => Promise.all([close?.(), browser?.close()]))

  /** Opens the page of a consent in a new window. Returns the redirect that follows. */
  async function openConsent(options: BrowserContextOptions) {
    await f.provider.use(userConsents).revoke('alice', web[0])
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const ended = new Promise<URL>((resolve) => {
      page.on('request', (request) => {
        if (request.url().startsWith(redirectUri)) resolve(new URL(request.url()))
      })
    })
    const scope = 'openid read files:write mail:send offline_access'
    const request = { client_id: web[0], redirect_uri: redirectUri, response_type: 'code', resource: files, scope }
    await page.goto(`${f.provider.issuer}/connect/authorize?${new URLSearchParams({ ...request, state: 's' })}`)
    await page.getByLabel('User name').fill('alice')
    await page.getByLabel('Password').fill('alice-password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Example Assistant requests access' }).waitFor()
    const granted = async () => (await f.redeem((await ended).searchParams.get('code') ?? undefined)).body.scope
    return { context, page, granted }
  }

  /** Presses Tab until the control has the focus. */
  async function tabTo(page: Page, id: string): Promise<void> {
    for (let presses = 0; presses < 20; presses += 1) {
      if ((await page.evaluate(() => document.activeElement?.id)) === id) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`The keyboard does not reach ${id}`)
  }

  async function check(page: Page, width: number, name: string): Promise<void> {
    expect(await violationsIn(page)).toEqual([])
    expect(await widthsOf(page)).toEqual(always(width))
    const directory = process.env.CONSOLE_SCREENSHOTS
    if (directory !== undefined) await page.screenshot({ path: `${directory}/choice ${name}.png`, fullPage: true })
  }

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('a user leaves scopes out with the keyboard, %i pixels wide, %s', async (width, colorScheme) => {
    const viewport = { width, height: 800 }
    const { context, page, granted } = await openConsent({ viewport, colorScheme, bypassCSP: true })
    await check(page, width, `${width} ${colorScheme}`)
    const group = page.getByRole('group', { name: 'This application would like to:' })
    expect(await page.locator('#resource').innerText()).toBe('The access is for Files MCP (files.example.com/mcp).')
    for (const name of labels) expect(await group.getByRole('checkbox', { name, exact: true }).isChecked()).toBe(true)
    expect(await group.getByRole('checkbox').count()).toBe(3)

    for (const index of labels.keys()) {
      await tabTo(page, `scope-${index + 1}`)
      await page.keyboard.press('Space')
    }
    await tabTo(page, 'allow')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await check(page, width, `${width} ${colorScheme} nothing`)
    expect(await group.getByRole('checkbox', { checked: true }).count()).toBe(0)

    await page.getByText('Read your files').click()
    await page.getByRole('button', { name: 'Allow' }).click()
    expect(await granted()).toBe('openid read')
    await context.close()
  })

  test('a user leaves a scope out without script', async () => {
    const { context, page, granted } = await openConsent({ javaScriptEnabled: false })
    await page.getByLabel('Change and delete your files').click()
    await page.getByRole('button', { name: 'Allow' }).click()
    expect(await granted()).toBe('openid read offline_access')
    await context.close()
  })
})
