// What people outside English type, in a browser: letters before and after the sign of an address, Punycode, full width,
// passwords from another keyboard, and digits of another alphabet.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseConfiguration } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { until } from '../support/eventually.ts'
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
  const spa = { clientId: 'spa', public: true, grantTypes: ['authorization_code'], scopes: ['openid'] }
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer,
      storage: { driver: 'memory' },
      clients: [{ ...spa, redirectUris: [redirectUri], requireConsent: false }],
      administration: true,
      mail: { url: smtp.url, from: 'id@example.com' },
      plugins: [{ name: 'sign-in', accounts: { signUp: 'open', mail: 'both' } }],
    },
    '',
  )
  server = await startServer({
    loaded: { configuration, file: 'grantry.config.json', directory: '.' },
    port,
    observe: () => {},
  })
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

/** Returns the newest mail with a subject. */
async function newestMail(subject: string): Promise<string> {
  const find = () => smtp.mails.filter(({ data }) => data.includes(`Subject: ${subject}`)).at(-1)
  await until(`a mail ${subject}`, () => find() !== undefined)
  return find()?.data ?? ''
}

const linkIn = (data: string): string => /http:\/\/127\.0\.0\.1:\d+\/connect\/mailed\?\S+/u.exec(data)?.[0] ?? ''
const codeIn = (data: string): string => /^\d{4} \d{4}\r?$/mu.exec(data)?.[0].trim() ?? ''

/** Types into a field as a keyboard does, and sends its form. */
async function enter(page: Page, field: string, text: string): Promise<void> {
  await page.locator(field).clear()
  await page.locator(field).pressSequentially(text)
  await page.keyboard.press('Enter')
}

async function openPage(): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en' })).newPage()
  await page.goto(begin)
  return page
}

const password = 'caf\u00e9 au lait 2026'
const persian = (digits: string): string =>
  digits.replaceAll(/\d/gu, (digit) => String.fromCodePoint(0x6f0 + Number(digit)))

describeWithChromium('what people type, in a browser', () => {
  beforeAll(async () => {
    const [started] = await Promise.all([startChromium(), startAll()])
    browser = started
    const page = await openPage()
    await page.locator('#create').click()
    await enter(page, '#address', 'Ann@B\u00fccher.example')
    await page.locator('#code').waitFor()
    await page.goto(linkIn(await newestMail('Confirm your email address')))
    await enter(page, '#password', password)
    await page.waitForURL(/\/callback\?.*code=/u)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
    await smtp?.close()
    client?.close()
  })

  test.each([
    ['ann@b\u00fccher.example', password],
    ['ann@xn--bcher-kva.example', password],
    [' Ann@B\u00dcCHER.example ', password.normalize('NFD')],
    ['ann@bu\u0308cher.example', password.replaceAll(' ', '\u00a0')],
    ['\uff41\uff4e\uff4e\uff20b\u00fccher\u3002example', password],
  ])('the name %j signs in', async (name, typed) => {
    const page = await openPage()
    await page.locator('#username').pressSequentially(name)
    await enter(page, '#password', typed)
    await page.waitForURL(/\/callback\?.*code=/u)
  })

  test('a user asks for a new password with the address in Punycode, and enters the code in Persian digits', async () => {
    const page = await openPage()
    await page.locator('#forgot').click()
    await enter(page, '#address', 'ann@XN--BCHER-KVA.example')
    await page.locator('#code').waitFor()
    const code = persian(codeIn(await newestMail('Choose a new password')))
    await enter(page, '#code', `${code.slice(0, 3)} ${code.slice(3)}`)
    await page.locator('#password').waitFor()
    // Password managers keep the new password for the name that signs in.
    const name = page.locator('input[autocomplete="username"]')
    expect(await name.inputValue()).toBe('Ann@b\u00fccher.example')
  })

  test.each(['j\u00f6rg@example.com', '\u7528\u6237@\u4f8b\u3048.jp', '\u0438\u0432\u0430\u043d@example.com'])(
    'the address %s can be sent',
    async (address) => {
      const page = await openPage()
      await page.locator('#forgot').click()
      await enter(page, '#address', address)
      await page.locator('#code').waitFor()
      expect(await page.locator('main').textContent()).toContain(address)
    },
  )
})
