// Accounts in a browser, with scripts and without: mails are read from an SMTP server on loopback.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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

let smtp: Awaited<ReturnType<typeof startSmtpServer>>
let server: GrantryServer
let browser: Browser
let client: Server
let begin: string

async function startAll(): Promise<void> {
  smtp = await startSmtpServer()
  client = createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => {
    client.listen(0, '127.0.0.1', resolve)
  })
  const redirectUri = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer,
      storage: { driver: 'memory' },
      clients: [
        {
          clientId: 'spa',
          public: true,
          grantTypes: ['authorization_code'],
          scopes: ['openid'],
          redirectUris: [redirectUri],
        },
      ],
      administration: true,
      mail: { url: smtp.url, from: 'id@example.com' },
      plugins: [{ name: 'sign-in', accounts: { signUp: 'open', mail: 'both' } }],
    },
    '',
  )
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  server = await startServer({ loaded, port, observe: () => {} })
  const query = new URLSearchParams({
    client_id: 'spa',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })
  begin = `${issuer}/connect/authorize?${query}`
}

/** Returns the newest mail to an address with a subject. */
async function mailTo(address: string, subject: string): Promise<string> {
  const find = () => smtp.mails.find(({ to, data }) => to.includes(address) && data.includes(`Subject: ${subject}`))
  await expect.poll(find).toBeDefined()
  return find()?.data ?? ''
}

const linkIn = (data: string): string => /http:\/\/127\.0\.0\.1:\d+\/connect\/mailed\?\S+/u.exec(data)?.[0] ?? ''
const codeIn = (data: string): string => /^\d{4} \d{4}\r?$/mu.exec(data)?.[0].trim() ?? ''

/** Sends the form of a page by keyboard. */
async function fill(page: Page, field: string, value: string): Promise<void> {
  await page.locator(field).fill(value)
  await page.keyboard.press('Enter')
}

describeWithChromium('accounts, in a browser', () => {
  beforeAll(async () => {
    const [started] = await Promise.all([startChromium(), startAll()])
    browser = started
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
    await smtp?.close()
    client?.close()
  })

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_, javaScriptEnabled) => {
    /** Checks a page where scripts run. */
    const check = async (page: Page): Promise<void> => {
      if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
    }
    const address = `carol-${javaScriptEnabled}@example.com`

    /** A browser at the page of the sign-in. */
    async function open() {
      const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
      const page = await context.newPage()
      const problems: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      await page.goto(begin)
      return { page, context, problems }
    }

    test('a visitor creates an account, forgets the password, and signs in with a new one and with a code', async () => {
      const first = await open()
      await first.page.locator('#create').click()
      await first.page.locator('#address').waitFor()
      await check(first.page)
      await fill(first.page, '#address', address)
      await first.page.locator('#code').waitFor()
      await check(first.page)
      await first.page.goto(linkIn(await mailTo(address, 'Confirm your email address')))
      await check(first.page)
      await fill(first.page, '#password', 'correct horse battery')
      await first.page.locator('#allow').click()
      await first.page.waitForURL(/\/callback\?.*code=/u)
      expect(first.problems).toEqual([])
      await first.context.close()

      const second = await open()
      await second.page.locator('#forgot').click()
      await fill(second.page, '#address', address)
      await second.page.locator('#code').waitFor()
      const mail = await mailTo(address, 'Choose a new password')
      // A phone opens the link: it leads nowhere, and the code is entered here.
      const phone = await open()
      await phone.page.goto(linkIn(mail))
      expect(await phone.page.locator('h1').textContent()).toBe('This link does not work here')
      await check(phone.page)
      await phone.context.close()
      await fill(second.page, '#code', codeIn(mail))
      await fill(second.page, '#password', 'Password123456')
      await second.page.locator('#problem').waitFor()
      await check(second.page)
      await fill(second.page, '#password', 'another correct horse')
      // The consent has ended with the old password.
      await second.page.locator('#allow').click()
      await second.page.waitForURL(/\/callback\?.*code=/u)
      await mailTo(address, 'Your password was changed')
      await second.context.close()

      const third = await open()
      await third.page.locator('#by-mail').click()
      await fill(third.page, '#address', address)
      await third.page.locator('#code').waitFor()
      await fill(third.page, '#code', codeIn(await mailTo(address, 'Sign in to')))
      await third.page.locator('#save').waitFor()
      await check(third.page)
      await third.page.locator('#save').click()
      await third.page.locator('#allow').click()
      await third.page.waitForURL(/\/callback\?.*code=/u)
      await third.context.close()
    })
  })
})
