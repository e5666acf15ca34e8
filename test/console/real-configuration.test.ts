import { parseConfiguration } from '@grantry/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurationSchema } from '../../packages/server/src/configuration/schema.ts'
import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { eventually, openConsole } from './open-console.ts'

// An operator's own server: the page knows no secret, and forgets the one that is typed.

const configuration = parseConfiguration(
  configurationSchema,
  {
    issuer: 'http://127.0.0.1:8484',
    storage: { driver: 'memory' },
    clients: [
      {
        clientId: 'web',
        secrets: [{ sha256: 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8=' }],
        grantTypes: ['client_credentials', 'authorization_code'],
        scopes: ['api1'],
        redirectUris: ['https://web.example.com/callback'],
      },
    ],
    scopes: [{ name: 'api1', secrets: [{ sha256: '6wQyUUAdTu9zHPV8/6ZUj+5sLyiatf+sGw+hjp41K8A=' }] }],
    endpoints: { accessTokenValidation: false },
    console: true,
  },
  '',
)

describeWithChromium('the console of a real configuration', () => {
  let server: GrantryServer
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
    const loaded = { configuration, file: '/etc/grantry.config.json', directory: '/etc' }
    server = await startServer({ loaded, port: 0, observe: () => {} })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
  })

  test('asks for the secrets, does not show what is typed, and keeps it nowhere', async () => {
    const console = await openConsole(browser, server.consoleUrl ?? '')
    const { page } = console
    for (const label of ['Client secret', 'Secret of this API']) {
      expect(await page.getByLabel(label).inputValue()).toBe('')
      expect(await page.getByLabel(label).getAttribute('type')).toBe('password')
    }
    await page.getByLabel('Client secret').fill('demo-secret')
    await page.getByLabel('api1').check()
    await console.press('Send the request', /200: granted/u)
    await page.getByLabel('Secret of this API').fill('api1-secret')
    await console.press('Introspect', /200: active/u)
    const kept = await page.evaluate(async () => [
      localStorage.length,
      sessionStorage.length,
      document.cookie,
      location.href.includes('secret'),
      (await indexedDB.databases()).length,
      (await caches.keys()).length,
    ])
    expect(kept).toEqual([0, 0, '', false, 0, 0])
    await page.reload()
    await page.getByLabel('Client secret').waitFor()
    expect(await page.getByLabel('Client secret').inputValue()).toBe('')
    console.assertClean()
    await console.close()
  })

  test('has no stand-in for a login page, and says what is switched off', async () => {
    const console = await openConsole(browser, server.consoleUrl ?? '')
    await console.choose('Grant type', 'authorization_code')
    expect(await console.page.getByRole('button', { name: 'Sign in and get a code' }).count()).toBe(0)
    expect(await console.page.getByLabel('Redirect URI').inputValue()).toBe('https://web.example.com/callback')
    const off = console.page.getByRole('button', { name: 'Validate access token' })
    expect(await off.isDisabled()).toBe(true)
    expect(await console.page.locator('#actions').innerText()).toContain('This endpoint is switched off here.')
    await console.close()
  })

  test('says so when the server is gone', async () => {
    const console = await openConsole(browser, server.consoleUrl ?? '')
    const live = () => console.page.locator('#live').innerText()
    await eventually(live).toBe('connected')
    await server.close(0)
    await eventually(live).toMatch(/^lost|^refused/u)
    await console.press('Send the request', /No answer/u)
    await console.close()
  })
})
