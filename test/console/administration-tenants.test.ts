import { basic, sha256Of } from '@grantry/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, widthsOf } from '../support/fonts.ts'
import {
  type AdministrationServer,
  goTo,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// The pages of the tenants: an administrator of the server creates, changes and ends them. One of a tenant sees none.

const secret = 'k7Zt2mQw9xLr4vPb'
const listed = {
  name: 'listed',
  plugins: [{ name: 'admin', clients: ['own-ops'] }],
  clients: [
    {
      clientId: 'own-ops',
      secrets: [{ sha256: sha256Of(secret) }],
      grantTypes: ['client_credentials'],
      scopes: ['admin'],
    },
  ],
}

describeWithChromium('the tenants in the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const answer = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  const statusOf = async (tenant: string) =>
    (await fetch(`${started.issuer}/t/${tenant}/.well-known/openid-configuration`)).status

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([
      startAdministrationServer({ tenants: { list: [listed] } }),
      startChromium(),
    ])
    ;({ page, assertClean } = await openAdministration(await browser.newContext(), started.url))
    await heading(page, 'Clients')
  })
  afterAll(async () => {
    assertClean()
    await browser?.close()
    await started?.server.close(0)
  })

  test('an administrator creates, changes, disables and ends one', async () => {
    await page.getByRole('link', { name: 'Tenants' }).click()
    await heading(page, 'Tenants')
    await page.getByText('tenants in the configuration file are not listed', { exact: false }).first().waitFor()
    await page.getByRole('link', { name: 'Add a tenant' }).click()
    await heading(page, 'Add a tenant')
    await page.getByLabel('Name', { exact: true }).fill('acme')
    await page.getByLabel('Plugins', { exact: true }).fill('[{ "name": "dpop", "algorithms": ["ES256"] }]')
    await press('Add the tenant')
    await heading(page, 'acme')
    expect(await statusOf('acme')).toBe(200)

    // The page has read the names only.
    expect(await page.getByLabel('Plugins', { exact: true }).inputValue()).not.toContain('ES256')
    await page.getByLabel('Tags', { exact: true }).fill('customer')
    await press('Save')
    await says('Saved')
    const metadata = await fetch(`${started.issuer}/t/acme/.well-known/openid-configuration`)
    expect(await metadata.json()).toMatchObject({ dpop_signing_alg_values_supported: ['ES256'] })

    await press('Disable the tenant')
    await answer('Disable the tenant')
    await says('The tenant is disabled')
    await expect.poll(() => statusOf('acme')).toBe(404)
    await press('Enable the tenant')
    await says('The tenant is enabled')
    await expect.poll(() => statusOf('acme')).toBe(200)

    await press('End the tenant')
    await answer('End the tenant')
    await heading(page, 'Tenants')
    await says('The tenant acme is ended')
    await expect.poll(() => statusOf('acme')).toBe(404)
  })

  test.each([
    ['#/tenants', 'Tenants'],
    ['#/tenants?new=yes', 'Add a tenant'],
    ['#/tenants/beta', 'beta'],
  ])('axe finds nothing at %s', async (hash, name) => {
    await started.send('POST', '/tenants', { name: 'beta', tags: ['customer'] }).catch(() => {})
    await goTo(page, hash, name)
    await expect.poll(() => page.locator('[aria-busy], #page :text("Loading…")').count()).toBe(0)
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await violationsIn(page)).toEqual([])
      expect(await widthsOf(page)).toEqual(always(width))
    }
  })

  test('an administrator of a tenant sees no tenant, and creates none', async () => {
    const issuer = `${started.issuer}/t/listed`
    const response = await fetch(`${issuer}/connect/token`, {
      method: 'POST',
      headers: { authorization: basic(['own-ops', secret]) },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'admin' }),
    })
    const { access_token: token } = (await response.json()) as { readonly access_token: string }
    const send = async (at: string, path: string, method = 'GET', body?: object) => {
      const answered = await fetch(`${at}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: answered.status, body: (await answered.json()) as Record<string, unknown> }
    }
    await started.send('POST', '/tenants', { name: 'gamma' })
    const overview = await send(issuer, '')
    expect([overview.status, overview.body.resources]).toEqual([200, expect.not.arrayContaining(['tenants'])])
    expect((await send(issuer, '/tenants')).body.items).toEqual([])
    expect((await send(issuer, '/tenants/gamma')).status).toBe(404)
    expect((await send(issuer, '/tenants', 'POST', { name: 'delta' })).status).toBeGreaterThanOrEqual(400)
    expect(await statusOf('delta')).toBe(404)
    for (const at of [started.issuer, `${started.issuer}/t/gamma`]) {
      expect([401, 403, 404]).toContain((await send(at, '/tenants')).status)
    }
    expect((await fetch(`${issuer}/console/`)).status).toBe(404)
  })
})
