// Users of an LDAP directory in the administration: the console lists none, finds one by the exact name, and ends what it
// has issued. The client that can do nothing is added with a warning.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWithLdap, ldapServers } from '../support/ldap-server.ts'
import { directoryLdif, mapping } from '../user-databases/directory.ts'
import {
  type AdministrationServer,
  fillSignIn,
  goTo,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

const administrators = ['11111111-1111-4111-8111-111111111111']

describeWithLdap('users of a directory', () => {
  const startLdap = ldapServers()

  describeWithChromium('in the administration', () => {
    let started: AdministrationServer
    let browser: Browser

    beforeAll(async () => {
      const { url } = await startLdap(directoryLdif)
      const users = { driver: 'ldap', url, ...mapping }
      const plugins = [{ name: 'sign-in' }, { name: 'admin', clients: ['ops'], administrators }]
      ;[started, browser] = await Promise.all([startAdministrationServer({ users, plugins }), startChromium()])
    })
    afterAll(async () => {
      await browser?.close()
      await started?.server.close(0)
    })

    test('are found by the name, shown, and signed out', async () => {
      const bob = await openTab(await browser.newContext(), started.url)
      await bob.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await fillSignIn(bob.page, 'bob')
      await heading(bob.page, 'You are not an administrator')
      const { page, assertClean } = await openAdministration(await browser.newContext(), started.url)
      await heading(page, 'Clients')
      await goTo(page, '#/users', 'Users')
      expect(await page.getByText('There are no users').count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Add a user' }).count()).toBe(0)
      await page.getByLabel('Name for the sign-in, or sub').fill('BOB')
      await page.getByRole('button', { name: 'Find the user' }).click()
      await page.getByText('in the table or directory that the server reads').waitFor()
      await page.getByRole('table', { name: 'Sessions' }).waitFor()
      await page.getByRole('button', { name: 'End all sessions and tokens' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
      await page.getByText('The user is not signed in.').waitFor()
      // A filter of LDAP finds no user.
      await goTo(page, '#/users', 'Users')
      await page.getByLabel('Name for the sign-in, or sub').fill('bo*')
      await page.getByRole('button', { name: 'Find the user' }).click()
      await page.getByText('There is no such user').waitFor()
      assertClean()
    })

    test('a client that can do nothing is added with a warning', async () => {
      const { page } = await openAdministration(await browser.newContext(), started.url)
      await heading(page, 'Clients')
      await goTo(page, '#/clients?new=yes', 'Add a client')
      await page.locator('input').first().fill('idle')
      await page.getByRole('button', { name: 'Add the client' }).click()
      await page.getByText('Warning: idle has no grant type, so it cannot get a token').waitFor()
    })
  })
})
