import { defineHostFunctions, definePlugin } from '@grantry/core'
import { secondFactors } from '@grantry/plugins/sign-in'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import {
  type AdministrationServer,
  administrationInput,
  heading,
  openAdministration,
  startAdministrationServer,
} from './open-administration.ts'

// The configuration is a module, with a plugin that resets the factors in the storage of the host.

describeWithChromium('the second factors of a user in the administration', () => {
  const stored = new Set(['carol-sub', 'dave-sub'])
  const factors = definePlugin('host-factors', [
    defineHostFunctions(secondFactors, () => ({
      withoutReset: [],
      reset: async (sub: string) => void stored.delete(sub),
    })),
  ])
  let started: AdministrationServer
  let browser: Browser
  let page: Page
  let assertClean: () => void

  beforeAll(async () => {
    const plugins = [...administrationInput('http://127.0.0.1').plugins, factors]
    ;[started, browser] = await Promise.all([startAdministrationServer({ plugins }), startChromium()])
    ;({ page, assertClean } = await openAdministration(await browser.newContext(), started.url))
    await heading(page, 'Clients')
  })
  afterAll(async () => {
    await browser?.close()
    await started?.server.close(0)
  })

  test('are removed after the administrator has confirmed it, with the sessions, and the trail has it', async () => {
    await started.send('POST', '/users', { sub: 'carol-sub', username: 'Carol', password: 'carol-password' })
    const carol = await openAdministration(await browser.newContext(), started.url, 'carol')
    await heading(carol.page, 'You are not an administrator')
    await page.goto(`${started.url}#/users/carol-sub`)
    await heading(page, 'Carol')
    await page.getByRole('table', { name: 'Sessions' }).waitFor()
    await page.getByRole('button', { name: 'Reset the second factors' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(stored).toEqual(new Set(['carol-sub', 'dave-sub']))
    await page.getByRole('button', { name: 'Reset the second factors' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset the second factors' }).click()
    await page.getByRole('status').filter({ hasText: 'The second factors are removed.' }).waitFor()
    expect(stored).toEqual(new Set(['dave-sub']))
    await page.getByText('The user is not signed in.').waitFor()
    await page.goto(`${started.url}#/audit?about=carol-sub`)
    await page.getByRole('row').filter({ hasText: 'user second factors reset' }).waitFor()
    assertClean()
  })
})
