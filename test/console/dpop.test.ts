import { parseConfiguration } from '@grantry/core'
import { afterAll, describe, expect, test } from 'vitest'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { describeWithChromium } from '../support/chromium.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { demoInBrowser, type OpenConsole, openConsole } from './open-console.ts'

// A DPoP exchange in the console (RFC 9449): the page creates a key and proves it in each request.

const granted = /200: success/u
const bind = ({ page }: OpenConsole) => page.getByRole('checkbox', { name: 'Bind the tokens to a key (DPoP)' })
const bodyOf = async ({ page }: OpenConsole) => JSON.parse(await page.getByLabel('Response body').innerText())
const textOf = ({ page }: OpenConsole, card: string) =>
  page.locator('details.token', { has: page.getByRole('heading', { name: card, exact: true }) }).innerText()

/** Returns the headers of the curl command by name. */
async function curlHeaders({ page }: OpenConsole): Promise<Readonly<Record<string, string>>> {
  const command = await page.getByLabel('Request as curl').innerText()
  return Object.fromEntries(
    [...command.matchAll(/-H '([^:]+): ([^']+)'/gu)].map(([, name = '', value = '']) => [name, value]),
  )
}

describeWithChromium('DPoP in the console', () => {
  const started = demoInBrowser()

  async function bound(client: string): Promise<OpenConsole> {
    const console = await openConsole(started.page, started.demo.url)
    await console.choose('Client', client)
    await console.choose('Grant type', 'authorization_code')
    await console.signIn()
    await bind(console).check()
    await console.press('Redeem the code', granted)
    return console
  }

  test.each(['demo', 'demo-jwt', 'demo-spa'])(
    'proves the key in each request with the tokens of %s',
    async (client) => {
      const console = await bound(client)
      const { page, press } = console
      expect(await bodyOf(console)).toMatchObject({ token_type: 'DPoP' })
      const thumbprint = await page
        .locator('.claim', { has: page.locator('dt', { hasText: /^jkt$/u }) })
        .locator('.mono')
        .last()
        .innerText()
      expect(await textOf(console, 'Key')).toContain('Thumbprint (RFC 7638)')

      await press('Introspect', /200: active/u)
      expect(await bodyOf(console)).toMatchObject({ token_type: 'DPoP', cnf: { jkt: thumbprint } })
      expect(await textOf(console, 'Access token')).toContain('The token is bound to the key with this thumbprint')

      await press('Userinfo', /200: these are the claims of the user/u)
      expect((await curlHeaders(console)).Authorization).toMatch(/^DPoP /u)
      await press('Use the token without its key', /401: refused as expected/u)
      expect((await curlHeaders(console)).Authorization).toMatch(/^Bearer /u)

      await press('Refresh', /Refresh\. 200: success/u)
      expect(await bodyOf(console)).toMatchObject({ token_type: 'DPoP' })
      expect(await textOf(console, 'Key')).toContain(thumbprint)
      await press('Retry refresh', /Retry the refresh\. 200: success/u)
      await press('Userinfo', /200: these are the claims of the user/u)
      await press('Replay refresh token', /refused as expected\. Its token family is revoked/u)
      await press('Userinfo', /401: refused/u)
      console.assertClean()
    },
  )

  test('explains the proof, and that it can be used once', async () => {
    const console = await bound('demo-spa')
    await console.press('Userinfo', /200: these are the claims of the user/u)
    const { page } = console
    const { DPoP: proof = '', Authorization: authorization = '' } = await curlHeaders(console)
    await page.getByText('DPoP proof of the request').click()
    const shown = await page.locator('#exchange details[open]').innerText()
    for (const part of [
      'a DPoP proof (RFC 9449)',
      'The method of the request',
      '/connect/userinfo',
      'The SHA-256 of the',
    ])
      expect(shown).toContain(part)
    expect(await page.locator('#exchange').innerText()).toContain('it refuses this command as a replay')
    const { origin } = new URL(started.demo.url)
    const again = await fetch(`${origin}/connect/userinfo`, { headers: { authorization, dpop: proof } })
    expect([again.status, (await again.json()).error]).toEqual([401, 'invalid_dpop_proof'])
  })

  test('uses one key until the page is closed, and bearer tokens without the box', async () => {
    const console = await openConsole(started.page, started.demo.url)
    const { page, press } = console
    await bind(console).check()
    await press('Request a token', granted)
    const first = await textOf(console, 'Key')
    await console.choose('Client', 'demo-jwt')
    expect(await bind(console).isChecked()).toBe(true)
    await press('Request a token', granted)
    await expect.poll(() => textOf(console, 'Access token')).toContain('A JWT')
    expect(await textOf(console, 'Key')).toBe(first)
    await bind(console).uncheck()
    await press('Request a token', granted)
    await expect.poll(() => bodyOf(console)).toMatchObject({ token_type: 'Bearer' })
    expect(await page.getByText('Public key (JWK)').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Use the token without its key' }).isDisabled()).toBe(true)
    const kept = await page.evaluate(async () => [
      localStorage.length,
      sessionStorage.length,
      document.cookie,
      (await indexedDB.databases()).length,
    ])
    expect(kept).toEqual([0, 0, '', 0])
  })

  test('is not available on an http page of another machine, and shows the reason', async () => {
    const { origin } = new URL(started.demo.url)
    const console = await openConsole(started.page, 'http://console.example/console', {
      prepare: async (page) => {
        await page.route('http://console.example/**', async (route) => {
          const url = route.request().url().replace('http://console.example', origin)
          const { origin: _origin, ...headers } = route.request().headers()
          await route.fulfill({ response: await route.fetch({ url, headers }) })
        })
        await page.route('**/console/events', (route) => route.abort())
      },
    })
    expect(await console.page.evaluate(() => isSecureContext)).toBe(false)
    expect(await bind(console).isDisabled()).toBe(true)
    expect(await console.page.locator('#bind-hint').innerText()).toContain('browsers create keys only on https pages')
    await console.press('Request a token', granted)
  })

  describe('of a configuration', () => {
    const servers: GrantryServer[] = []
    afterAll(async () => {
      for (const server of servers) await server.close(0)
    })

    async function openWith(plugins: readonly object[]): Promise<OpenConsole> {
      const configuration = parseConfiguration(
        configurationSchema,
        {
          issuer: 'http://127.0.0.1:8484',
          storage: { driver: 'memory' },
          clients: [
            {
              clientId: 'web',
              secrets: [{ sha256: 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8=' }],
              grantTypes: ['client_credentials'],
              scopes: ['api1'],
            },
          ],
          scopes: [{ name: 'api1' }],
          plugins,
          console: true,
        },
        '',
      )
      const loaded = { configuration, file: '/etc/grantry.config.json', directory: '/etc' }
      const server = await startServer({ loaded, port: 0, observe: () => {} })
      servers.push(server)
      const console = await openConsole(started.page, server.consoleUrl ?? '')
      await console.page.getByLabel('Client secret').fill('demo-secret')
      await console.page.getByLabel('api1').check()
      return console
    }

    test('without DPoP has neither the box nor the attack', async () => {
      const console = await openWith([])
      expect(await bind(console).count()).toBe(0)
      expect(await console.page.getByRole('button', { name: 'Use the token without its key' }).count()).toBe(0)
    })

    test('disables the box if the server does not accept ES256', async () => {
      const console = await openWith([{ name: 'dpop', algorithms: ['EdDSA'] }])
      expect(await bind(console).isDisabled()).toBe(true)
      expect(await console.page.locator('#bind-hint').innerText()).toContain('does not accept proofs signed with ES256')
    })

    test('repeats a request once with the nonce of the server, and reports it', async () => {
      const console = await openWith([{ name: 'dpop', nonce: true }])
      const sent: number[] = []
      console.page.on('response', (response) => {
        if (response.url().endsWith('/connect/token')) sent.push(response.status())
      })
      await bind(console).check()
      await console.press('Request a token', /200: success.*it requires its nonce in it \(use_dpop_nonce\)/su)
      expect(sent).toEqual([400, 200])
      expect(await console.page.locator('#exchange').textContent()).toContain('A value of the server')
      // The page keeps the nonce.
      await console.press('Request a token', granted)
      await expect.poll(() => console.outcome()).not.toContain('nonce')
      expect(sent).toEqual([400, 200, 200])
    })

    test('does not repeat a request forever', async () => {
      const console = await openWith([{ name: 'dpop' }])
      let count = 0
      await console.page.route('**/connect/token', (route) => {
        count += 1
        return route.fulfill({ status: 400, headers: { 'dpop-nonce': `n${count}` }, json: { error: 'use_dpop_nonce' } })
      })
      await bind(console).check()
      await console.press('Request a token', /400: refused\. The DPoP proof must contain the nonce/u)
      await expect.poll(() => count).toBe(2)
    })
  })
})
