// What users change, take and delete on the account page of the ready server, in a browser with scripts and without: mails
// are read from an SMTP server on loopback.
import { readFile } from 'node:fs/promises'
import { parseConfiguration } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { startSmtpServer } from '../support/smtp-server.ts'

const password = 'correct horse battery'
let smtp: Awaited<ReturnType<typeof startSmtpServer>>
let server: GrantryServer
let browser: Browser
let accountUri: string

async function startAll(): Promise<void> {
  smtp = await startSmtpServer()
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer,
      storage: { driver: 'memory' },
      clients: [],
      administration: true,
      mail: { url: smtp.url, from: 'id@example.com' },
      plugins: [{ name: 'sign-in', account: { deletion: true }, accounts: { signUp: 'open' } }],
    },
    '',
  )
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  server = await startServer({ loaded, port, observe: () => {} })
  accountUri = `${issuer}/account`
}

/** Returns the mail to an address with a text. */
async function mailTo(address: string, text: string): Promise<string> {
  const find = () => smtp.mails.find(({ to, data }) => to.includes(address) && data.includes(text))
  await expect.poll(find).toBeDefined()
  return find()?.data ?? ''
}

const codeIn = (data: string): string => /^\d{4} \d{4}\r?$/mu.exec(data)?.[0].trim() ?? ''

/** Enters a text, and sends the form by keyboard. */
async function enter(page: Page, field: string, value: string): Promise<void> {
  await page.locator(field).fill(value)
  await page.keyboard.press('Enter')
}

describeWithChromium('what users change, take and delete, in a browser', () => {
  beforeAll(async () => {
    const [started] = await Promise.all([startChromium(), startAll()])
    browser = started
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
    await smtp?.close()
  })

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_, javaScriptEnabled) => {
    const address = `carol-${javaScriptEnabled}@example.com`
    const next = `carol-new-${javaScriptEnabled}@example.com`
    /** Checks a page where scripts run. */
    const check = async (page: Page): Promise<void> => {
      if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
    }

    test('the profile, the address, a download and the deletion', async () => {
      const context = await browser.newContext({ javaScriptEnabled, locale: 'en', acceptDownloads: true })
      const page = await context.newPage()
      await page.goto(accountUri)
      await page.locator('#create').click()
      await enter(page, '#address', address)
      await page.locator('#code').waitFor()
      await enter(page, '#code', codeIn(await mailTo(address, 'Confirm your email address')))
      await enter(page, '#password', password)
      await page.locator('#sessions').waitFor()
      await check(page)

      await page.locator('#change-profile').click()
      await page.locator('#claim-name').fill('Carol Kowalska')
      await enter(page, '#claim-zoneinfo', 'Nowhere')
      await page.locator('#problem').waitFor()
      await check(page)
      await enter(page, '#claim-zoneinfo', 'Europe/Warsaw')
      await page.locator('#notice').waitFor()
      expect(await page.getByText('Carol Kowalska').isVisible()).toBe(true)
      await mailTo(address, 'Your profile was changed')

      await page.locator('#change-address').click()
      await page.locator('#address').waitFor()
      await check(page)
      await enter(page, '#address', next)
      await page.locator('#code').waitFor()
      await check(page)
      await enter(page, '#code', codeIn(await mailTo(next, 'Enter this code')))
      await page.locator('#notice').waitFor()
      expect(await page.locator('#notice').textContent()).toBe('Your email address was changed.')
      // The former address is informed.
      await mailTo(address, 'Your email address was changed')

      await page.locator('#download-data').click()
      await page.locator('#confirm').waitFor()
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#confirm').click()])
      expect(download.suggestedFilename()).toBe('account.json')
      const { account } = JSON.parse(await readFile(await download.path(), 'utf8'))
      expect(account).toEqual({
        username: next,
        email: next,
        emailVerified: true,
        claims: { name: 'Carol Kowalska', zoneinfo: 'Europe/Warsaw' },
      })
      await mailTo(next, 'Your data were downloaded')

      await page.goto(accountUri)
      await page.locator('#delete-account').click()
      await page.locator('#confirm').waitFor()
      await check(page)
      await page.locator('#confirm').click()
      await page.locator('#deleted').waitFor()
      await check(page)
      await mailTo(next, 'Your account was deleted')
      await page.goto(accountUri)
      await page.locator('#username').fill(next)
      await enter(page, '#password', password)
      await page.locator('#problem').waitFor()
      await context.close()
    })
  })
})
