import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceGrantType, deviceSignIn } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import * as client from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningProvider, startProvider } from '../interop/running-server.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'

let running: RunningProvider
let browser: Browser

/** `CONSOLE_SCREENSHOTS=<directory>` keeps what the user sees. */
async function keep(page: Page, name: string): Promise<void> {
  const directory = process.env.CONSOLE_SCREENSHOTS
  if (directory !== undefined) await page.screenshot({ path: `${directory}/${name}.png`, fullPage: true })
}

describeWithChromium('the page for devices with the ready sign-in, in a browser', () => {
  beforeAll(async () => {
    const pages = createPages({ name: 'Example', scopes: { api1: 'Watch films' } })
    const features = [deviceSignIn({ pages, interval: 1 })]
    const tv = {
      clientId: 'tv',
      public: true,
      grantTypes: [deviceGrantType],
      scopes: ['openid', 'api1'],
      clientName: 'Living room TV',
    }
    const plugins = [
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages, features }),
    ]
    const options = { plugins, clients: [tv], authorizationEndpoint: undefined }
    ;[running, browser] = await Promise.all([startProvider('', options), startChromium()])
  })
  afterAll(() => Promise.all([running?.close(), browser?.close()]))

  test.each([390, 1280])('a user signs in and approves without script, %i pixels wide', async (width) => {
    const config = await client.discovery(new URL(running.issuer), 'tv', {}, client.None(), {
      execute: [client.allowInsecureRequests],
    })
    const device = await client.initiateDeviceAuthorization(config, { scope: 'openid api1' })
    const polling = client.pollDeviceAuthorizationGrant(config, device)
    // The test reports it where it awaits the tokens.
    polling.catch(() => {})
    const viewport = { width, height: 800 }
    const context = await browser.newContext({ viewport, bypassCSP: true })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(`${message.text()} ${message.location().url}`))
    const check = async (name: string) => {
      await keep(page, `device-${name}-${width}`)
      expect(await violationsIn(page)).toEqual([])
      expect(await widthsOf(page)).toEqual(always(width))
    }
    await page.goto(device.verification_uri)
    await page.getByLabel('Password').waitFor()
    await check('sign-in')
    await page.getByLabel('User name').fill('alice')
    await page.getByLabel('Password').fill('alice-password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code').waitFor()
    await check('code')
    await page.getByLabel('Code').fill('BCDF-GHJK')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This code is not valid').waitFor()
    await check('wrong-code')
    await page.getByLabel('Code').fill(device.user_code.replace('-', ' ').toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(device.user_code).waitFor()
    expect(await page.locator('#scopes li').allInnerTexts()).toContain('Watch films')
    await check('confirm')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('You have approved the request').waitFor()
    await check('approved')
    // A response that is none of OAuth would otherwise be lost.
    await polling.catch(async ({ cause }) => {
      if (cause instanceof Response) throw new Error(`polling: ${cause.status} ${await cause.text()}`)
    })
    expect((await polling).claims()).toMatchObject({ sub: '1', aud: 'tv' })
    // The browser reports that there is no icon, and the response to the wrong code.
    expect(problems.filter((text) => !/ 400 |favicon/u.test(text))).toEqual([])
    await context.close()
  })
})
