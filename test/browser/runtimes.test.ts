// The ready server on each runtime, in a browser with scripts and without: a sign-in at another Grantry, an account whose
// mails arrive by SMTP on loopback, and its page with a linked account and a passkey, which then signs in by autofill.
import { decodeJwt } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { type RuntimeServers, startOnRuntime } from './runtime-servers.ts'

let browser: Browser

/** Enters a text, and sends the form by keyboard. */
async function enter(page: Page, field: string, value: string): Promise<void> {
  await page.locator(field).fill(value)
  await page.keyboard.press('Enter')
}

/** Signs in at the other Grantry. */
async function enterThere(page: Page, user: string): Promise<void> {
  await page.getByRole('link', { name: /^Continue (?:with|to) Other$/u }).click()
  await page.getByLabel('User name').fill(user)
  await page.getByLabel('Password', { exact: true }).fill('there-password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Waits for the page of the account with an address. */
async function seesAccount(page: Page, address: string): Promise<void> {
  await page.locator('#sessions').waitFor()
  expect(await page.getByText(address, { exact: true }).first().isVisible()).toBe(true)
}

const codeIn = (data: string): string => /^\d{4} \d{4}\r?$/mu.exec(data)?.[0].trim() ?? ''
const linkIn = (data: string): string => /http:\/\/localhost:\d+\/connect\/mailed\?\S+/u.exec(data)?.[0] ?? ''

/** A browser with an empty virtual device (https://www.w3.org/TR/webauthn-3/#sctn-automation), at a page. */
async function openPage(url: string, javaScriptEnabled: boolean) {
  const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(url)
  return { page, context, problems }
}

function testOn(command: readonly string[]): void {
  let servers: RuntimeServers
  beforeAll(async () => {
    servers = await startOnRuntime(command)
  })
  afterAll(() => servers?.close())

  /** Returns the mail to an address with a subject. */
  const mailTo = async (address: string, subject: string): Promise<string> => {
    const find = () =>
      servers.mails.find(({ to, data }) => to.includes(address) && data.includes(`Subject: ${subject}`))
    await eventually(() => expect(find()).toBeDefined())
    return find()?.data ?? ''
  }

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_, withScript) => {
    const open = (path = '/account') => openPage(servers.issuer + path, withScript)

    test('a user signs in at another Grantry, and the client gets the claims', async () => {
      const { page, context, problems } = await open(servers.authorizationPath)
      await enterThere(page, withScript ? 'alice' : 'bob')
      await page.waitForURL(/\/callback\?.*code=/u)
      const token = await servers.identityToken(new URL(page.url()).searchParams.get('code') ?? '')
      expect(decodeJwt(token)?.claims).toMatchObject({ idp: 'grantry', amr: ['pwd'] })
      expect(problems).toEqual([])
      await context.close()
    })

    test('a user creates an account, forgets the password, links an account, and adds a passkey', async () => {
      const address = `carol-${withScript}@example.com`
      const linked = withScript ? 'carol' : 'dave'
      const first = await open()
      await first.page.locator('#create').click()
      await enter(first.page, '#address', address)
      await first.page.locator('#code').waitFor()
      await first.page.goto(linkIn(await mailTo(address, 'Confirm your email address')))
      await enter(first.page, '#password', 'correct horse battery')
      await first.page.locator('#sessions').waitFor()

      const { page, context, problems } = await open()
      await page.locator('#forgot').click()
      await enter(page, '#address', address)
      await page.locator('#code').waitFor()
      await enter(page, '#code', codeIn(await mailTo(address, 'Choose a new password')))
      await enter(page, '#password', 'another correct horse')
      await page.locator('#sessions').waitFor()
      await mailTo(address, 'Your password was changed')
      // The other browser is signed out, and the old password is of no use there.
      await first.page.goto(`${servers.issuer}/account`)
      await first.page.locator('#username').fill(address)
      await enter(first.page, '#password', 'correct horse battery')
      await first.page.locator('#problem').waitFor()

      await page.getByRole('link', { name: 'Link an account at Other' }).click()
      await enterThere(page, linked)
      await page.getByText('The account is linked.').waitFor()
      await first.page.goto(`${servers.issuer}/account`)
      await enterThere(first.page, linked)
      await seesAccount(first.page, address)
      await first.context.close()

      await page.locator('#add-passkey').click()
      if (withScript) {
        await enter(page, '#name', 'My laptop')
        await page.getByText('The passkey is added.').waitFor()
        await context.clearCookies()
        await page.goto(`${servers.issuer}/account`)
        // The browser offers it in the field of the user name, and the device accepts.
        await seesAccount(page, address)
        expect(await page.getByText('My laptop').isVisible()).toBe(true)
      } else {
        await page.locator('#script-needed').waitFor()
        expect(await page.locator('#confirm').isVisible()).toBe(false)
      }
      expect(problems).toEqual([])
      await context.close()
    })
  })
}

const bun = [runtimeExecutable('.bin/bun')]
const deno = [runtimeExecutable('.bin/deno'), 'run', '--allow-all', '--no-config', '--no-lock']

describeWithChromium('the ready server, in a browser', () => {
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  describe('on Node.js', () => testOn([process.execPath]))
  describeWithRuntime('on Bun', bun[0] ?? '', () => testOn(bun))
  describeWithRuntime('on Deno', deno[0] ?? '', () => testOn(deno))
})
