import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { signInOverHttp } from '../support/sign-in.ts'
import {
  type AdministrationServer,
  goTo,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// Each page of the administration: what it does.

describeWithChromium('the pages of the administration', () => {
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void

  const go = (hash: string, name: string | RegExp) => goTo(page, hash, name)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const says = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor()
  /** Presses a button of the open dialog. */
  const answer = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

  beforeAll(async () => {
    ;[started, browser] = await Promise.all([startAdministrationServer(), startChromium()])
    const context = await browser.newContext()
    ;({ page, assertClean } = await openAdministration(context, started.url))
    await heading(page, 'Clients')
    await started.send('POST', '/scopes', { name: 'orders' })
    await started.send('POST', '/clients', { clientId: 'web', grantTypes: ['client_credentials'], tags: ['shop'] })
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', password: 'carol-password' })
  })
  beforeEach(() => go('#/clients', 'Clients'))
  afterAll(async () => {
    assertClean()
    await browser?.close()
    await started?.server.close(0)
  })

  test('lists clients by prefix, tag and state, and shows the filter in the address', async () => {
    await page.getByLabel('Tag').fill('shop')
    await press('Search')
    await page.getByRole('rowheader', { name: 'web' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/clients?tag=shop')
    await page.getByLabel('Id starts with').fill('x')
    await press('Search')
    await page.getByText('No client matches.').waitFor()
  })

  test('rotates a secret with an overlap, and shows the new one once', async () => {
    await go('#/clients/web', 'web')
    await press('Rotate the secret')
    await page.getByLabel('The secrets until now').selectOption({ label: 'work for one more hour' })
    await answer('Create a new secret')
    await says('There is a new secret')
    expect((await page.locator('#secret').innerText()).length).toBeGreaterThan(30)
    const { secrets } = (await started.send('GET', '/clients/web')) as { readonly secrets: readonly object[] }
    expect(secrets).toHaveLength(2)
    expect(await page.getByRole('table', { name: 'Secrets' }).getByRole('row').count()).toBe(3)
  })

  test('marks a wrong value at its member, and moves the focus there', async () => {
    await go('#/clients/web', 'web')
    await page.getByLabel('Redirect URIs', { exact: true }).fill('not a URI')
    await press('Save')
    await page.getByRole('alert').filter({ hasText: 'Not saved' }).waitFor()
    const uris = page.getByLabel('Redirect URIs', { exact: true })
    expect(await uris.getAttribute('aria-invalid')).toBe('true')
    expect(await uris.evaluate((control) => control === document.activeElement)).toBe(true)
    await go('#/audit', 'Audit trail')
    await go('#/clients/web', 'web')
    expect(await uris.inputValue()).toBe('not a URI')
    await uris.fill('')
    await press('Save')
    await says('There is nothing to save')
  })

  test('asks before it disables and removes, with a dialog that Escape closes', async () => {
    await started.send('POST', '/clients', { clientId: 'old', public: true })
    await go('#/clients/old', 'old')
    await press('Remove the client')
    await page.getByRole('dialog', { name: 'Remove old?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press('Disable the client')
    await answer('Disable the client')
    await says('The client is disabled')
    expect(await started.send('GET', '/clients/old')).toMatchObject({ enabled: false })
    await press('Remove the client')
    await answer('Remove the client')
    await heading(page, 'Clients')
    await says('The client old is removed')
  })

  test('adds a scope, and creates its secret', async () => {
    await go('#/scopes?new=yes', 'Add a scope')
    await page.getByLabel('Name of the scope').fill('invoices')
    await press('Add the scope')
    await heading(page, 'invoices')
    await press('Create a secret')
    await answer('Create a secret')
    await says('There is a new secret')
    await page.locator('#secret').waitFor()
  })

  test('adds a user, finds the user by name, sets a password, and disables the user', async () => {
    await go('#/users?new=yes', 'Add a user')
    await page.getByLabel('User name').fill('Dave')
    await page.getByLabel('Password').fill('dave-password')
    await page.getByLabel('Claims').fill('{"email": "dave@example.com"}')
    await press('Add the user')
    await heading(page, 'Dave')
    await go('#/users', 'Users')
    await page.getByLabel('Name starts with').fill('dav')
    await press('Search')
    await page.getByRole('link', { name: 'Dave' }).click()
    await heading(page, 'Dave')
    await page.getByLabel('New password').fill('another-password')
    await press('Set the password')
    await says('The password is set')
    await press('Disable the user')
    await answer('Disable the user')
    await says('The user is disabled')
    assertClean()
  })

  test('shows and ends the sessions of a user', async () => {
    const context = await browser.newContext()
    const carol = await openAdministration(context, started.url, 'carol')
    await heading(carol.page, 'You are not an administrator')
    await go('#/users/carol-sub', 'Carol')
    await page.getByRole('table', { name: 'Sessions' }).waitFor()
    await page.getByRole('button', { name: /^End the session of/u }).click()
    await says('The session has ended')
    await page.getByText('The user is not signed in.').waitFor()
    await press('End all sessions and tokens')
    await answer('End all')
    await says('All sessions and tokens have ended')
    await context.close()
  })

  test('shows and revokes what a user has consented to', async () => {
    const redirect_uri = 'https://shop.example.com/callback'
    const scopes = ['openid', 'profile']
    const client = { clientId: 'shop', grantTypes: ['authorization_code'], scopes, redirectUris: [redirect_uri] }
    await started.send('POST', '/clients', client)
    const request = { client_id: 'shop', redirect_uri, scope: 'openid profile' }
    await signInOverHttp(started.issuer, request, ['carol', 'carol-password'])
    await go('#/users/carol-sub', 'Carol')
    await page.getByRole('row', { name: /shop.*openid.*profile/u }).waitFor()
    await press('Revoke the consent to shop')
    await says('The consent is revoked')
    await page.getByText('The user has consented to no client.').waitFor()
  })

  test('ends the access of one client of a user, also of one that no list shows', async () => {
    const redirect_uri = 'https://notes.example.com/callback'
    const scopes = ['openid', 'offline_access']
    const grantTypes = ['authorization_code', 'refresh_token']
    await started.send('POST', '/clients', { clientId: 'notes', grantTypes, scopes, redirectUris: [redirect_uri] })
    const request = { client_id: 'notes', redirect_uri, scope: 'openid offline_access' }
    await signInOverHttp(started.issuer, request, ['carol', 'carol-password'])
    await go('#/users/carol-sub', 'Carol')
    await page.getByRole('table', { name: 'Access of clients' }).waitFor()
    await press('End the access of notes')
    await answer('End the access')
    await says('The access of notes has ended (authorizations: 1, consents: 1)')
    await page.getByText('No client has lasting access.').waitFor()
    await page.getByLabel('Client id').fill('nosuch')
    await press('End the access of this client')
    await answer('End the access')
    await page.getByText('There is no such client').waitFor()
    await page.getByLabel('Client id').fill('notes')
    await press('End the access of this client')
    await answer('End the access')
    await says('The access of notes has ended (authorizations: 0, consents: 0)')
  })

  test('lists the keys and rotates them', async () => {
    await go('#/keys', 'Signing keys')
    const rows = page.getByRole('table', { name: 'Signing keys' }).getByRole('row')
    await rows.nth(1).waitFor()
    await press('Rotate the keys')
    await answer('Rotate the keys')
    await page.getByRole('dialog', { name: 'The server has refused it' }).waitFor()
    await answer('Do it anyway')
    await says('The keys are rotated')
  })

  test('shows who has changed what, before and after', async () => {
    await go('#/audit?about=web', 'Audit trail')
    const row = page.getByRole('row').filter({ hasText: 'client secret rotated' })
    await row.getByText('member').first().click()
    await row.getByText('secrets', { exact: true }).waitFor()
    expect(await row.innerText()).toContain('client:grantry-console user:alice-sub')
  })

  test('has the page for requests, with live events', async () => {
    await go('#/requests', 'Requests and live events')
    await page.getByText('connected', { exact: true }).waitFor()
    await page.getByLabel('Client', { exact: true }).waitFor()
  })

  test('moves the focus to the heading of each page, and is used with the keyboard', async () => {
    await go('#/scopes', 'Scopes')
    const isFocused = () =>
      page.getByRole('heading', { level: 1 }).evaluate((title) => title === document.activeElement)
    await expect.poll(isFocused).toBe(true)
    await page.getByRole('link', { name: 'Users', exact: true }).focus()
    await page.keyboard.press('Enter')
    await heading(page, 'Users')
    await expect.poll(isFocused).toBe(true)
    expect(await page.getByRole('link', { name: 'Users', exact: true }).getAttribute('aria-current')).toBe('page')
    expect(await page.title()).toBe('Users – Grantry console')
  })
})
