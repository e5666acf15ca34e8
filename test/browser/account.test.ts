import { serve } from '@grantry/adapters/node'
import { secondFactors } from '@grantry/plugins/sign-in'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setUpPasskeys } from '../account/passkeys.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'
import { reservedPort } from '../support/reserved-port.ts'

let browser: Browser
let issuer: string
let close: () => Promise<void>
/** Removes the passkeys of a user, as an operator does. */
let forget: (sub: string) => Promise<void>

/** Chromium with an empty virtual device (https://www.w3.org/TR/webauthn-3/#sctn-automation). */
async function openPage(javaScriptEnabled = true) {
  const context = await browser.newContext({ javaScriptEnabled })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(`${issuer}/account`)
  /** The names of the users whose passkeys the device has. */
  async function onDevice(): Promise<readonly (string | undefined)[]> {
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
    return credentials.map(({ userName }) => userName)
  }
  return { page, problems, context, onDevice }
}

async function signIn(page: Page, username = 'alice'): Promise<void> {
  await page.locator('#username').fill(username)
  await page.locator('#password').fill(`${username}-password`)
  await page.keyboard.press('Enter')
  await page.locator('#sessions').waitFor()
}

describeWithChromium('the account page, in a browser', () => {
  beforeAll(async () => {
    const port = await reservedPort()
    // The domain of a passkey is a name, not an address.
    issuer = `http://localhost:${port}`
    const { provider } = await setUpPasskeys({ issuer, clients: [] })
    forget = async (sub) => void (await provider.use(secondFactors).reset(sub))
    const [server, chromium] = await Promise.all([serve(provider, { port }), startChromium()])
    browser = chromium
    close = () => server.close()
  })
  afterAll(() => Promise.all([close?.(), browser?.close()]))

  test('adds a passkey, which then signs in, by keyboard only', async () => {
    const { page, problems, context } = await openPage()
    await signIn(page)
    await page.locator('#add-passkey').focus()
    await page.keyboard.press('Enter')
    await page.locator('#name').waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.locator('#name').focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('My laptop')
    await page.keyboard.press('Enter')
    await page.locator('#notice').waitFor()
    expect(await page.locator('#notice').textContent()).toBe('The passkey is added.')
    expect(await page.getByText('My laptop').isVisible()).toBe(true)
    expect(await violationsIn(page)).toEqual([])
    // The device knows that it has one.
    await page.goto(`${issuer}/account/passkeys/add`)
    await page.locator('#confirm').focus()
    await page.keyboard.press('Enter')
    await page.locator('#known').waitFor()
    expect(problems).toEqual([])

    await context.clearCookies()
    await page.goto(`${issuer}/account`)
    // The browser offers it in the field of the user name, and the device accepts.
    await page.locator('#sessions').waitFor()
    expect(await page.getByText('Signed in as alice').isVisible()).toBe(true)
    await context.close()
  })

  test('removes a passkey from the device, which the user or the operator has removed', async () => {
    const { page, problems, context, onDevice } = await openPage()
    await signIn(page, 'carol')
    const add = async () => {
      await page.goto(`${issuer}/account/passkeys/add`)
      await page.locator('#confirm').click()
      await page.locator('#notice').waitFor()
    }
    await add()
    expect(await onDevice()).toEqual(['carol'])
    await page.locator('a[href$="/remove"]').click()
    await page.locator('#confirm').click()
    await page.locator('#notice').waitFor()
    await expect.poll(onDevice).toEqual([])

    await add()
    expect(await onDevice()).toEqual(['carol'])
    await forget('sub of carol')
    await context.clearCookies()
    await page.goto(`${issuer}/account`)
    // The device offers it in the field, and the server does not know it.
    await page.locator('#problem').waitFor()
    await expect.poll(onDevice).toEqual([])
    expect(problems).toEqual([])
    await context.close()
  })

  test('ends another session, without scripts and by keyboard only', async () => {
    const phone = await openPage()
    await signIn(phone.page, 'bob')
    const { page, context } = await openPage(false)
    await signIn(page, 'bob')
    const link = page.locator('a.change[href*="/sessions/"]').first()
    await link.focus()
    await page.keyboard.press('Enter')
    await page.locator('#confirm').focus()
    await page.keyboard.press('Enter')
    await page.locator('#notice').waitFor()
    expect(await page.locator('#notice').textContent()).toBe('The device is signed out.')
    await phone.page.reload()
    await phone.page.locator('#password').waitFor()
    await Promise.all([context.close(), phone.context.close()])
  })

  test('says without scripts that a passkey needs one', async () => {
    const { page, context } = await openPage(false)
    await signIn(page)
    await page.locator('#add-passkey').click()
    expect(await page.locator('#script-needed').isVisible()).toBe(true)
    expect(await page.locator('#confirm').isVisible()).toBe(false)
    await context.close()
  })

  test('does not overflow at 320 px, in any language', async () => {
    const { page, context } = await openPage()
    await signIn(page)
    await page.setViewportSize({ width: 320, height: 640 })
    for (const language of ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']) {
      await page.setExtraHTTPHeaders({ 'accept-language': language })
      for (const path of ['', '/passkeys/add', '/sessions/end-others']) {
        await page.goto(`${issuer}/account${path}`)
        expect(await page.locator('html').getAttribute('lang')).toBe(language)
        expect(await widthsOf(page)).toEqual(always(320))
      }
    }
    await context.close()
  })
})
