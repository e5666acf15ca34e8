// The page of an invitation in a browser, with scripts and without: its mail is read from an SMTP server on loopback.
import { parseConfiguration } from '@grantry/core'
import { invitations } from '@grantry/plugins/self-service'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
const password = 'correct horse battery'

async function startAll(): Promise<void> {
  smtp = await startSmtpServer()
  const port = await reservedPort()
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer: `http://127.0.0.1:${port}`,
      storage: { driver: 'memory' },
      clients: [],
      administration: true,
      mail: { url: smtp.url, from: 'id@example.com' },
      plugins: [{ name: 'sign-in', account: {}, accounts: { signUp: 'invitation' } }],
    },
    '',
  )
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  server = await startServer({ loaded, port, observe: () => {} })
}

describeWithChromium('an invitation, in a browser', () => {
  beforeAll(async () => {
    const [started] = await Promise.all([startChromium(), startAll()])
    browser = started
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
    await smtp?.close()
  })

  test.each([true, false])('leads to an account that signs in, with scripts: %j', async (javaScriptEnabled) => {
    const address = `carol-${javaScriptEnabled}@example.com`
    const invited = await server.provider.use(invitations).invite({ email: address })
    expect(invited).toMatchObject({ email: address })
    const mail = () => smtp.mails.find(({ to }) => to.includes(address))?.data ?? ''
    await expect.poll(mail).not.toBe('')
    const link = /http:\S+\/connect\/invitation\?\S+/u.exec(mail())?.[0] ?? ''

    const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    const enter = async (field: string, value: string) => {
      await page.locator(field).fill(value)
      await page.keyboard.press('Enter')
    }
    const check = async () => {
      if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
    }
    await page.goto(link)
    await page.getByText(address).first().waitFor()
    await check()
    await enter('#password', password)
    await page.getByRole('heading', { name: 'Your account is ready' }).waitFor()
    await check()
    await page.locator('#sign-in').click()
    await page.locator('#username').fill(address)
    await enter('#password', password)
    await page.locator('#sessions').waitFor()
    expect(problems).toEqual([])
    // It works once.
    await page.goto(link)
    await page.getByRole('heading', { name: 'This invitation no longer works' }).waitFor()
    await check()
    await context.close()
  })
})
