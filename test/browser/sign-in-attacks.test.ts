import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@grantry/adapters/node'
import { webRuntime } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients, request } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

let evil: Server
let callback: string
let issuer: string
let browser: Browser
let close: () => Promise<void>

/** A site of the attacker, which shows the HTML of its URL, and the client. */
const startEvil = (): Promise<Server> => {
  const server = createServer((received, response) => {
    const html = new URL(received.url ?? '/', 'http://evil').searchParams.get('html') ?? ''
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
const evilUrl = (html: string): string =>
  `http://127.0.0.1:${(evil.address() as AddressInfo).port}/?${new URLSearchParams({ html })}`

const formTo = (path: string, fields: Readonly<Record<string, string>>): string =>
  `<form method="post" action="${issuer}/connect/${path}">${Object.entries(fields)
    .map(([name, value]) => `<input name="${name}" value="${value}">`)
    .join('')}<button id="go">Go</button></form>`

const fieldsOf = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('input[type=hidden]')].map((input) => [
        input.getAttribute('name') ?? '',
        input.getAttribute('value') ?? '',
      ]),
    ),
  )

const authorize = (more: Readonly<Record<string, string>> = {}): string =>
  `${issuer}/connect/authorize?${new URLSearchParams({ ...request, redirect_uri: callback, ...more })}`

describeWithChromium('attacks on the sign-in, in a browser', () => {
  beforeAll(async () => {
    evil = await startEvil()
    callback = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/callback`
    const port = await reservedPort()
    // Another site than that of the attacker.
    issuer = `http://localhost:${port}`
    const pages = createPages()
    const options = {
      issuer,
      runtime: { now: webRuntime.now },
      clients: [{ ...clients[0], clientId: 'web', redirectUris: [callback] }],
    }
    const f = await setUpSignIn({ pages }, options, { pages, features: [endSession({ pages })] })
    const running = await serve(f.provider, { port })
    close = () => running.close()
    browser = await startChromium()
  })
  afterAll(() => Promise.all([close?.(), browser?.close(), evil?.close()]))

  /** A browser in which alice has signed in, and sees the page that asks for consent. */
  async function withVictim(run: (context: BrowserContext, consent: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext()
    try {
      const consent = await context.newPage()
      await consent.goto(authorize({ prompt: 'consent' }))
      await consent.fill('#username', 'alice')
      await consent.fill('#password', 'alice-password')
      await consent.click('#sign-in')
      await consent.locator('#allow').waitFor()
      await run(context, consent)
    } finally {
      await context.close()
    }
  }

  /** Sends a form from the site of the attacker, in the browser of the victim. */
  async function sendFromEvil(context: BrowserContext, path: string, fields: Readonly<Record<string, string>>) {
    const page = await context.newPage()
    await page.goto(evilUrl(formTo(path, fields)))
    const [response] = await Promise.all([page.waitForNavigation(), page.click('#go')])
    return { page, status: response?.status() }
  }

  test('a form of another site neither consents nor denies, although it has the fields of the victim', async () => {
    await withVictim(async (context, consent) => {
      for (const decision of ['allow', 'deny']) {
        const { page, status } = await sendFromEvil(context, 'consent', { ...(await fieldsOf(consent)), decision })
        expect([status, page.url()]).toEqual([400, `${issuer}/connect/consent`])
      }
      await consent.click('#allow')
      await consent.waitForURL((url) => url.href.startsWith(callback))
      expect(new URL(consent.url()).searchParams.has('code')).toBe(true)
    })
  })

  test('a form of another site neither signs the victim in as the attacker, nor out', async () => {
    await withVictim(async (context) => {
      const attacker = await (await browser.newContext()).newPage()
      await attacker.goto(authorize())
      const credentials = { username: 'bob', password: 'bob-password' }
      const planted = await sendFromEvil(context, 'signin', { ...(await fieldsOf(attacker)), ...credentials })
      expect(planted.status).toBe(400)
      await attacker.context().close()
      const page = await context.newPage()
      await page.goto(`${issuer}/connect/endsession`)
      const fields = { ...(await fieldsOf(page)), decision: 'logout' }
      expect(fields).toHaveProperty('form_token')
      await sendFromEvil(context, 'endsession/confirm', fields)
      await page.goto(authorize({ prompt: 'consent' }))
      expect(await page.locator('main').innerText()).toContain('Signed in as alice')
    })
  })

  test('a frame of another site shows no page', async () => {
    await withVictim(async (context) => {
      for (const url of [
        authorize({ prompt: 'consent' }),
        authorize({ prompt: 'login' }),
        `${issuer}/connect/endsession`,
      ]) {
        const page = await context.newPage()
        await page.goto(evilUrl(`<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`))
        const frame = page.frames()[1]
        await frame?.waitForLoadState()
        expect(await frame?.locator('button').count()).toBe(0)
        expect(frame?.url()).toMatch(/^chrome-error:/u)
      }
    })
  })
})
