import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import * as client from 'openid-client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningProvider, startProvider } from '../interop/running-server.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'

const session = 'session=of-alice'

let running: RunningProvider
let browser: Browser

/** The login page of the host, on another origin. */
const loginUri = () => `${running.issuer.replace('127.0.0.1', 'localhost')}/login`

const startDevice = async () => {
  const config = await client.discovery(new URL(running.issuer), 'tv', {}, client.None(), {
    execute: [client.allowInsecureRequests],
  })
  return { config, device: await client.initiateDeviceAuthorization(config, { scope: 'openid api1' }) }
}

describeWithChromium('the page of deviceAuthorization(), in a browser', () => {
  beforeAll(async () => {
    const page = deviceAuthorization({
      interval: 1,
      page: {
        path: '/device',
        signIn: (request) =>
          request.header('cookie')?.includes(session) ? { sub: '1', amr: ['pwd'] } : { location: loginUri() },
      },
    })
    const tv = { clientId: 'tv', public: true, grantTypes: [deviceGrantType], scopes: ['openid', 'api1'] }
    const options = { plugins: page, clients: [tv] }
    ;[running, browser] = await Promise.all([startProvider('', options), startChromium()])
  })
  afterAll(() => Promise.all([running?.close(), browser?.close()]))

  test('a user approves without script, on a narrow screen, and openid-client gets the tokens', async () => {
    const { config, device } = await startDevice()
    const polling = client.pollDeviceAuthorizationGrant(config, device)

    const viewport = { width: 320, height: 640 }
    // axe needs a page that may run script; the user's page may not.
    const [user, checker] = await Promise.all([
      browser.newContext({ viewport, javaScriptEnabled: false }),
      browser.newContext({ viewport, bypassCSP: true }),
    ])
    for (const context of [user, checker]) {
      await context.addCookies([{ name: 'session', value: 'of-alice', url: running.issuer }])
    }
    const checked = await checker.newPage()
    for (const url of [
      device.verification_uri,
      device.verification_uri_complete ?? '',
      `${running.issuer}/device?user_code=BCDF`,
    ]) {
      await checked.goto(url)
      expect(await violationsIn(checked)).toEqual([])
      expect(await widthsOf(checked)).toEqual(always(320))
    }

    const page = await user.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    await page.goto(device.verification_uri)
    await page.getByLabel('The code that your device shows').fill(device.user_code.replace('-', ' ').toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(device.user_code).waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('status').filter({ hasText: 'You have approved the request' }).waitFor()
    expect((await polling).claims()).toMatchObject({ sub: '1', aud: 'tv' })
    expect(problems).toEqual([])
  })

  test('a user whose session has ended gets to the login, on another origin', async () => {
    const { device } = await startDevice()
    const context = await browser.newContext({ javaScriptEnabled: false })
    await context.addCookies([{ name: 'session', value: 'of-alice', url: running.issuer }])
    const page = await context.newPage()
    await page.goto(device.verification_uri_complete ?? '')
    await context.clearCookies({ name: 'session' })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('link', { name: 'Continue' }).click()
    await page.waitForURL(loginUri())
  })
})
