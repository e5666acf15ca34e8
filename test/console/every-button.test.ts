import { basic } from '@grantry/testing'
import { expect, test } from 'vitest'
import { describeWithChromium } from '../support/chromium.ts'
import { demoInBrowser, type OpenConsole, openConsole } from './open-console.ts'

// Presses every button of the demo console in a browser, by its accessible name.

const granted = /200: success/u

describeWithChromium('the console of the demo', () => {
  const started = demoInBrowser()

  const opened = async (inside: (console: OpenConsole) => Promise<void>) => {
    const console = await openConsole(started.page, started.demo.url)
    await inside(console)
    console.assertClean()
  }

  const timeline = ({ page }: OpenConsole) => page.locator('details.family', { hasText: 'yours' }).innerText()
  const redeem = async (console: OpenConsole) => {
    await console.choose('Grant type', 'authorization_code')
    await console.signIn()
    await console.press('Redeem the code', /Authorization code\. 200: success/u)
  }
  const tokens = async ({ page }: OpenConsole) =>
    (await page.locator('.token h3').allInnerTexts()).map((name) => name.toLowerCase())

  test.each(['demo', 'demo-jwt'])('every grant of the client %s works with the default values', (client) =>
    opened(async (console) => {
      await console.choose('Client', client)
      const offered = await console.page.getByLabel('Grant type').locator('option').allInnerTexts()
      expect(offered).toEqual([
        'Client credentials',
        'Password',
        'Authorization code',
        'Refresh token',
        'urn:example:badge',
      ])
      await console.press('Request a token', /Client credentials\. 200: success/u)
      expect(await tokens(console)).toEqual(['access token'])
      await console.choose('Grant type', 'password')
      await console.press('Request a token', /Password\. 200: success/u)
      expect(await tokens(console)).toContain('refresh token')
      await console.choose('Grant type', 'refresh_token')
      await console.press('Request a token', /Refresh token\. 200: success/u)
      await console.choose('Grant type', 'urn:example:badge')
      await console.press('Request a token', /urn:example:badge\. 200: success/u)
      await redeem(console)
      expect(await tokens(console)).toEqual(['access token', 'refresh token', 'identity token'])
    }),
  )

  test('a public client redeems a code only with the proof key that the page created', () =>
    opened(async (console) => {
      await console.choose('Client', 'demo-spa')
      expect(await console.page.getByLabel('Client secret').count()).toBe(0)
      await redeem(console)
      await console.signIn()
      await console.page.getByLabel('Proof key (code_verifier)').fill('x'.repeat(43))
      await console.press('Redeem the code', /400: refused/u)
    }))

  test('every action has the result that its text describes', () =>
    opened(async (console) => {
      const { page, press } = console
      const disabled = () => page.locator('#actions button:disabled').count()
      expect(await disabled()).toBe(11)
      await redeem(console)
      await press('Introspect', /Introspect\. 200: active/u)
      expect(await page.locator('.token').first().innerText()).toContain('Introspection response')
      await press('Userinfo', /Userinfo\. 200: these are the claims of the user/u)
      expect(await page.getByLabel('Response body').innerText()).toContain('"name": "Alice Smith"')
      await press('Validate identity token', /200: it is valid and was issued to this client/u)
      await press('Validate access token', /200: it is valid/u)
      await press('Refresh', /Refresh\. 200: success/u)
      // Only bound tokens can be used without their key.
      expect(await disabled()).toBe(1)
      await press('Retry refresh', /Retry the refresh\. 200: success/u)
      await press('Replay refresh token', /400: refused as expected\. Its token family is revoked/u)
      await press('Introspect', /not active/u)
      await press('Revoke access token', /Revoke the access token\. 200/u)
      await press('Revoke refresh token', /Revoke the refresh token\. 200/u)
      await expect
        .poll(() => timeline(console))
        .toMatch(/Family revoked[\s\S]*because a spent refresh token was replayed/u)
      const words = [
        'Code issued',
        'Code redeemed',
        'Issued',
        'Rotated',
        'Issued',
        'Retried',
        'Replayed',
        'Family revoked',
      ]
      expect((await page.locator('.family[open] .event strong').allInnerTexts()).slice(0, 8)).toEqual(words)
    }))

  test('a replayed code and a revoked token revoke the family of the sign-in', () =>
    opened(async (console) => {
      await redeem(console)
      await console.press('Replay code', /Replay the code\. 400: refused as expected/u)
      await expect.poll(() => timeline(console)).toMatch(/Code replayed[\s\S]*because a spent code was replayed/u)
      await redeem(console)
      await console.press('Revoke access token', /Revoke the access token\. 200/u)
      await console.press('Introspect', /not active/u)
      await console.press('Revoke refresh token', /Revoke the refresh token\. 200/u)
      await console.press('Refresh', /Refresh\. 400: refused/u)
      await expect.poll(() => timeline(console)).toMatch(/because its client revoked it/u)
    }))

  test('explains the claims of a JWT with times as dates, and that a reference token has none', () =>
    opened(async (console) => {
      await console.press('Request a token', granted)
      expect(await console.page.locator('.token').innerText()).toContain(
        'A reference token: a random text without claims',
      )
      await console.choose('Client', 'demo-jwt')
      await console.press('Request a token', granted)
      await expect.poll(() => console.page.locator('.token').innerText()).toContain('A JWT')
      const text = await console.page.locator('.token').innerText()
      for (const part of [
        'ECDSA with P-256',
        'an access token (RFC 9068)',
        'in 59 minutes',
        'Audience: who may accept the token',
      ])
        expect(text).toContain(part)
    }))

  test('shows the request as a curl command with a copy button', () =>
    opened(async (console) => {
      const { page } = console
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await console.press('Request a token', granted)
      const shown = await page.getByLabel('Request as curl').innerText()
      expect(shown).toContain('-u demo:demo-secret')
      await page.getByRole('button', { name: 'Copy the curl command' }).click()
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(shown)
    }))

  test('sends additional fields, removes them, and explains errors', () =>
    opened(async (console) => {
      const { page } = console
      await page.getByText('More fields').click()
      await page.getByRole('button', { name: 'Add a field' }).click()
      await page.getByLabel('Name of field 1').fill('scope')
      await page.getByLabel('Value of field 1').fill('api2')
      await console.press('Request a token', /400: refused\. A parameter is missing, repeated or malformed/u)
      await page.getByRole('button', { name: 'Remove field 1' }).click()
      await console.press('Request a token', granted)
      await page.getByLabel('Client secret').fill('wrong')
      await console.press('Request a token', /401: refused\. The client or API could not be authenticated/u)
    }))

  test('shows the events of other callers without a click', () =>
    opened(async ({ page }) => {
      await expect.poll(() => page.locator('#live').innerText()).toBe('connected')
      const families = () => page.locator('.family-name').allInnerTexts()
      const before = await families()
      const { origin } = new URL(started.demo.url)
      const login = {
        grant_type: 'password',
        username: 'alice',
        password: 'alice-password',
        scope: 'openid offline_access',
      }
      const response = await fetch(`${origin}/connect/token`, {
        method: 'POST',
        headers: { authorization: basic(['demo', 'demo-secret']) },
        body: new URLSearchParams(login),
      })
      expect(response.status).toBe(200)
      await expect.poll(async () => (await families()).some((name) => !before.includes(name))).toBe(true)
    }))

  test('gets and introspects a token with the keyboard alone', () =>
    opened(async ({ page, outcome }) => {
      const nameOf = () =>
        page.evaluate(() => {
          const { activeElement: active } = document
          const labels =
            active instanceof HTMLInputElement || active instanceof HTMLSelectElement ? active.labels : null
          return (labels?.[0] ?? active)?.textContent?.trim() ?? ''
        })
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 60; presses += 1) {
          await page.keyboard.press('Tab')
          if ((await nameOf()) === name) return
        }
        throw new Error(`The keyboard does not reach ${name}`)
      }
      await tabTo('Client')
      await page.keyboard.press('ArrowDown')
      expect(await page.getByLabel('Client', { exact: true }).inputValue()).toBe('demo-jwt')
      expect(await nameOf()).toBe('Client')
      await tabTo('Grant type')
      await page.keyboard.press('ArrowDown')
      await tabTo('Bind the tokens to a key (DPoP)')
      await page.keyboard.press('Space')
      await tabTo('Request a token')
      expect(await page.evaluate(() => document.activeElement?.matches(':focus-visible'))).toBe(true)
      await page.keyboard.press('Enter')
      await expect.poll(outcome).toMatch(/Password\. 200: success/u)
      // The focus has moved to the response and continues from there.
      expect(await nameOf()).toContain('Response')
      await tabTo('Introspect')
      await page.keyboard.press('Space')
      await expect.poll(outcome).toMatch(/Introspect\. 200: active/u)
      expect(await page.getByLabel('Response body').innerText()).toContain('"token_type": "DPoP"')
    }))
})
