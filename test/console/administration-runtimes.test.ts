import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startCommand } from '../server/running-command.ts'
import { startChromium } from '../support/chromium.ts'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { administrationInput, heading, openAdministration } from './open-administration.ts'

// The administration works the same when Bun or Deno runs the server.

for (const name of ['bun', 'deno']) {
  describeWithRuntime(`the administration on ${name}`, runtimeExecutable(`.bin/${name}`), () => {
    test('signs in, adds a client, and shows live events', async () => {
      const directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-'))
      const port = await reservedPort()
      const issuer = `http://127.0.0.1:${port}`
      const file = join(directory, 'grantry.config.json')
      await writeFile(file, JSON.stringify(administrationInput(issuer)))
      const [server, browser] = await Promise.all([
        startCommand(['serve', '--config', file], directory, { script: ['start-on.js', name] }),
        startChromium(),
      ])
      try {
        const { page, assertClean } = await openAdministration(await browser.newContext(), `${issuer}/console/`)
        await heading(page, 'Clients')
        await page.getByRole('link', { name: 'Add a client' }).click()
        await page.getByLabel('Client id').fill('batch')
        await page.getByLabel('Grant types').fill('client_credentials')
        await page.getByRole('button', { name: 'Add the client' }).click()
        await heading(page, 'batch')
        expect((await page.locator('#secret').innerText()).length).toBeGreaterThan(30)
        await page.getByRole('link', { name: 'Requests' }).click()
        await page.getByText('connected', { exact: true }).waitFor()
        await page.locator('#timeline').getByText('Code redeemed').first().waitFor()
        assertClean()
      } finally {
        await browser.close()
        await server.stop()
        await rm(directory, { recursive: true, force: true })
      }
    })
  })
}
