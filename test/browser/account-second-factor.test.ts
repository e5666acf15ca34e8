import { serve } from '@grantry/adapters/node'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeAt, setUpFactors } from '../account/factors.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

let browser: Browser
let issuer: string
let now: () => number
let advance: (seconds: number) => void
let close: () => Promise<void>

describeWithChromium('an authenticator app of the account page, in a browser', () => {
  beforeAll(async () => {
    const port = await reservedPort()
    issuer = `http://localhost:${port}`
    const f = await setUpFactors({ issuer, clients: [] })
    now = f.now
    advance = f.clock.advance
    const [server, chromium] = await Promise.all([serve(f.provider, { port }), startChromium()])
    browser = chromium
    close = () => server.close()
  })
  afterAll(() => Promise.all([close?.(), browser?.close()]))

  test.each([true, false])('is set up and signs in by keyboard only, with scripts: %j', async (javaScriptEnabled) => {
    const username = javaScriptEnabled ? 'alice' : 'bob'
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    const signIn = async () => {
      await page.goto(`${issuer}/account`)
      await page.locator('#username').fill(username)
      await page.locator('#password').fill(`${username}-password`)
      await page.keyboard.press('Enter')
    }
    await signIn()
    await page.getByRole('link', { name: 'Set up: Authenticator app' }).focus()
    await page.keyboard.press('Enter')
    const secret = ((await page.locator('#key').textContent()) ?? '').replaceAll(' ', '')
    expect(await page.locator('#qr').isVisible()).toBe(true)
    if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
    await page.locator('#code').focus()
    await page.keyboard.type(codeAt(secret, now()))
    await page.keyboard.press('Enter')
    await page.locator('#codes').waitFor()
    expect(await page.locator('#codes li').count()).toBe(10)
    if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
    await page.locator('#done').focus()
    await page.keyboard.press('Enter')
    await page.locator('#factors').waitFor()

    advance(30)
    await context.clearCookies()
    await signIn()
    await page.locator('#code').waitFor()
    await page.locator('#code').focus()
    await page.keyboard.type(codeAt(secret, now()))
    await page.keyboard.press('Enter')
    await page.locator('#sessions').waitFor()
    await context.close()
  })
})
