// Two tenants of one server in one browser, by path and by host: pages, cookies and sessions of each are its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseConfiguration } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

/** The scrypt hash of `alice-password`. */
const password = '$scrypt$ln=15,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'
const logoOf = (color: string): string => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"><rect width="48" height="48" fill="${color}"/></svg>`
  return `data:image/svg+xml;base64,${btoa(svg)}`
}
const looks = {
  acme: { name: 'Acme', logo: logoOf('red'), colors: { accent: '#8a1c1c' } },
  beta: { name: 'Beta', logo: logoOf('green'), colors: { accent: '#14532d' } },
} as const
type Name = keyof typeof looks

/** `#8a1c1c` as browsers report it. */
const computed = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`

async function start(by: 'path' | 'host', redirectUri: string) {
  const port = await reservedPort()
  const issuer = `http://localhost:${port}`
  const keyOf = (name: Name): string => (by === 'path' ? name : `${name}.localhost`)
  const spa = {
    clientId: 'spa',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: [redirectUri],
    requireConsent: false,
  }
  const list = (['acme', 'beta'] as const).map((name) => ({
    name: keyOf(name),
    clients: [spa],
    users: [{ sub: `alice of ${name}`, username: 'alice', password }],
    plugins: [{ name: 'sign-in', pages: looks[name] }],
  }))
  const plugins = [{ name: 'sign-in', account: {}, pages: { name: 'Server', locales: ['en'] } }]
  const content = {
    issuer,
    storage: { driver: 'memory' },
    clients: [],
    plugins,
    tenants: { by, list },
  }
  const configuration = parseConfiguration(configurationSchema, content, '')
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  const server = await startServer({ loaded, port, observe: () => {} })
  const issuerOf = (name: Name): string => (by === 'path' ? `${issuer}/t/${name}` : `http://${keyOf(name)}:${port}`)
  const urlOf = (name: Name, more: Readonly<Record<string, string>> = {}): string => {
    const query = new URLSearchParams({
      client_id: 'spa',
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      ...more,
    })
    return `${issuerOf(name)}/connect/authorize?${query}`
  }
  return { server, issuerOf, urlOf }
}

/** What the client receives: a code, or an error. */
const outcomeOf = (page: Page): string => {
  const { searchParams } = new URL(page.url())
  return searchParams.has('code') ? 'code' : (searchParams.get('error') ?? page.url())
}

async function signIn(page: Page, redirectUri: string): Promise<void> {
  await page.getByLabel('User name').fill('alice')
  await page.getByLabel('Password', { exact: true }).fill('alice-password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${redirectUri}*`)
}

describeWithChromium('two tenants in one browser', () => {
  let browser: Browser
  let redirectUri = ''
  const application = createServer((_request, response) => response.end('the application'))
  beforeAll(async () => {
    browser = await startChromium()
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
    redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`
  })
  afterAll(async () => {
    await browser?.close()
    application.close()
  })

  describe.each(['path', 'host'] as const)('by %s', (by) => {
    test.each([
      ['without scripts', false],
      ['with scripts', true],
    ])('sign users in apart, with pages of their own, %s', async (_mode, javaScriptEnabled) => {
      const { server, issuerOf, urlOf } = await start(by, redirectUri)
      const context = await browser.newContext({ javaScriptEnabled })
      try {
        const page = await context.newPage()
        for (const name of ['acme', 'beta'] as const) {
          await page.goto(urlOf(name))
          const button = page.getByRole('button', { name: 'Sign in', exact: true })
          await button.waitFor()
          expect(await page.title()).toContain(looks[name].name)
          const html = await page.content()
          expect(html).toContain(looks[name].logo)
          expect(html).not.toContain(looks[name === 'acme' ? 'beta' : 'acme'].logo)
          expect(await button.evaluate((shown) => getComputedStyle(shown).backgroundColor)).toBe(
            computed(looks[name].colors.accent),
          )
          if (javaScriptEnabled) expect(await violationsIn(page)).toEqual([])
          await signIn(page, redirectUri)
          expect(outcomeOf(page)).toBe('code')
          if (name === 'beta') break
          // The other tenant knows nothing of this session.
          await page.goto(urlOf('beta', { prompt: 'none' }))
          expect(outcomeOf(page)).toBe('login_required')
        }
        for (const name of ['acme', 'beta'] as const) {
          await page.goto(urlOf(name, { prompt: 'none' }))
          expect(outcomeOf(page)).toBe('code')
          await page.goto(`${issuerOf(name)}/account`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          expect(await page.title()).toContain(looks[name].name)
        }
        const sessions = (await context.cookies()).filter(({ name }) => name.includes('session'))
        const distinct = new Set(sessions.map(({ name, domain }) => `${name} ${domain}`))
        expect([sessions.length >= 2, distinct.size]).toEqual([true, sessions.length])

        // The end of one session leaves the other one.
        await page.goto(`${issuerOf('acme')}/connect/endsession`)
        await page.getByRole('button', { name: 'Sign out', exact: true }).click()
        await page.getByText('signed out', { exact: false }).first().waitFor()
        await page.goto(urlOf('acme', { prompt: 'none' }))
        expect(outcomeOf(page)).toBe('login_required')
        await page.goto(urlOf('beta', { prompt: 'none' }))
        expect(outcomeOf(page)).toBe('code')
      } finally {
        await context.close()
        await server.close(0)
      }
    })
  })
})
