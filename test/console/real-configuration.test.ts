import { parseConfiguration } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { describeWithChromium } from '../support/chromium.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { openConsole, startBrowser } from './open-console.ts'

// A configured server: the page contains no secrets, and does not store the ones that the user types.

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
  let page: Page
  beforeAll(async () => {
    ;({ browser, page } = await startBrowser())
    const loaded = { configuration, file: '/etc/grantry.config.json', directory: '/etc' }
    server = await startServer({ loaded, port: 0, observe: () => {} })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close(0)
  })

  test('has hidden fields for secrets, and does not store them', async () => {
    const console = await openConsole(page, server.consoleUrl ?? '')
    for (const label of ['Client secret', 'API secret']) {
      expect(await page.getByLabel(label).inputValue()).toBe('')
      expect(await page.getByLabel(label).getAttribute('type')).toBe('password')
    }
    await page.getByLabel('Client secret').fill('demo-secret')
    await page.getByLabel('api1').check()
    await console.press('Request a token', /200: success/u)
    await page.getByLabel('API secret').fill('api1-secret')
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
  })

  test('has no stand-in for a login page, and marks disabled endpoints', async () => {
    const console = await openConsole(page, server.consoleUrl ?? '')
    await console.choose('Grant type', 'authorization_code')
    expect(await console.page.getByRole('button', { name: 'Sign in and get a code' }).count()).toBe(0)
    expect(await console.page.getByLabel('Redirect URI').inputValue()).toBe('https://web.example.com/callback')
    const off = console.page.getByRole('button', { name: 'Validate access token' })
    expect(await off.isDisabled()).toBe(true)
    expect(await console.page.locator('#actions').innerText()).toContain('This endpoint is disabled.')
  })

  test('shows that the server is not reachable', async () => {
    const console = await openConsole(page, server.consoleUrl ?? '')
    const live = () => console.page.locator('#live').innerText()
    await expect.poll(live).toBe('connected')
    await server.close(0)
    await expect.poll(live).toMatch(/^lost|^refused/u)
    await console.press('Request a token', /No response/u)
  })
})
