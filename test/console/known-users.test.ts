// Users of a table in the administration: this server does not list or change them, but ends what it has issued to them.
import { loadEngine } from '@grantry/storage-drivers/clients'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { sharedDirectory } from '../support/directory.ts'
import {
  type AdministrationServer,
  administrationInput,
  fillSignIn,
  goTo,
  heading,
  openAdministration,
  openTab,
  startAdministrationServer,
} from './open-administration.ts'

describeWithChromium('users of a table in the administration', () => {
  let started: AdministrationServer
  let browser: Browser

  beforeAll(async () => {
    const file = `${sharedDirectory('known-users')}/app.db`
    const connection = loadEngine()(file)
    connection.run('CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, hash TEXT, email TEXT)')
    for (const { sub, username, password } of administrationInput('http://127.0.0.1').users) {
      connection.run(
        'INSERT INTO people VALUES (?, ?, ?, ?)',
        sub,
        username === 'alice' ? 'Alice' : username,
        password,
        `${username}@example.com`,
      )
    }
    connection.close()
    const columns = { sub: 'id', username: 'name', password: 'hash', claims: { email: 'email' } }
    const users = { driver: 'sql', file, table: 'people', columns, operationTimeout: 60 }
    ;[started, browser] = await Promise.all([startAdministrationServer({ users }), startChromium()])
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
    await page.getByText('Signed in as Alice').waitFor()
    await goTo(page, '#/users', 'Users')
    expect(await page.getByText('There are no users').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Add a user' }).count()).toBe(0)
    await page.getByLabel('Name for the sign-in, or sub').fill('BOB')
    await page.getByRole('button', { name: 'Find the user' }).click()
    await heading(page, 'bob')
    await page.getByText('bob@example.com').waitFor()
    await page.getByText('in the table or directory that the server reads').waitFor()
    await page.getByRole('table', { name: 'Sessions' }).waitFor()
    await page.getByRole('button', { name: 'End all sessions and tokens' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await page.getByText('The user is not signed in.').waitFor()
    await goTo(page, '#/users/nosuch', 'nosuch')
    await page.getByText('There is no such user').waitFor()
    assertClean()
  })
})
