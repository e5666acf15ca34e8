import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningCommand, startCommand } from '../server/running-command.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { runtimeExecutable } from '../support/runtime-describe.ts'
import { configurationFor, type Setting, settingsFor, users } from './setting.ts'

// Applications with the clients of other projects sign users in at the ready server.

const apps = fileURLToPath(new URL('apps/', import.meta.url))

/** The script in `scripts/` that starts the server on a runtime. */
const servers = { node: ['start.js'], bun: ['start-on.js', 'bun'], deno: ['start-on.js', 'deno'] } as const

async function startApplications(issuer: string, settings: Readonly<Record<string, Setting>>): Promise<ChildProcess> {
  const env = { ...process.env, APPLICATIONS: JSON.stringify({ issuer, settings }) }
  const child = spawn(process.execPath, [`${apps}main.js`], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(() => {
    throw new Error('The applications have ended before they listened')
  })
  await Promise.race([once(child.stdout, 'data'), ended])
  return child
}

const userOf = async (page: Page): Promise<unknown> => JSON.parse(await page.locator('#user').innerText())

/** Signs in with consent, refreshes, and signs out, as a user does. */
async function use(
  page: Page,
  { port, clientId }: Setting,
  [username, password]: readonly [string, string],
): Promise<void> {
  const home = `http://127.0.0.1:${port}/`
  await page.goto(home)
  await page.locator('#login').click()
  // The page of Auth.js has a button for each provider.
  const chosen = page.getByRole('button', { name: 'Sign in with Grantry' })
  await chosen.or(page.locator('#username')).first().waitFor()
  if (await chosen.isVisible()) await chosen.click()
  await page.locator('#username').fill(username)
  await page.locator('#password').fill(password)
  await page.locator('#sign-in').click()
  await page.locator('#allow').click()
  const user = { sub: `sub of ${username}`, name: `Name of ${username}` }
  await page.locator('#user').waitFor()
  expect(await userOf(page), clientId).toEqual({ ...user, refreshed: false })
  await page.locator('#refresh').click()
  await page.locator('#user', { hasText: '"refreshed":true' }).waitFor()
  expect(await userOf(page)).toEqual({ ...user, refreshed: true })
  await page.locator('#logout').click()
  await page.waitForURL(home)
  await page.locator('#login').waitFor()
  // The session at the provider has ended, too.
  await page.locator('#login').click()
  await chosen.or(page.locator('#username')).first().waitFor()
  if (await chosen.isVisible()) await chosen.click()
  await page.locator('#username').waitFor()
}

/** Returns what tests on the runtime need and is not installed. */
function missingFor(runtime: keyof typeof servers): string | undefined {
  if (!existsSync(`${apps}../node_modules/express`)) return 'Install the clients: npm ci --prefix test/relying-parties'
  if (runtime === 'node' || existsSync(runtimeExecutable(`.bin/${runtime}`))) return undefined
  return `Install ${runtime}: npm run runtimes`
}

describeWithChromium('applications with the clients of other projects', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  async function signIn(runtime: keyof typeof servers): Promise<void> {
    const directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-'))
    const file = join(directory, 'grantry.config.json')
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const settings = await settingsFor()
    await writeFile(file, JSON.stringify(configurationFor(issuer, settings)))
    let server: RunningCommand | undefined
    let applications: ChildProcess | undefined
    try {
      const args = ['--config', file, '--port', String(port)]
      server = await startCommand(args, directory, { script: servers[runtime] })
      applications = await startApplications(issuer, settings)
      for (const [javaScriptEnabled, user] of [
        [false, users[0]],
        [true, users[1]],
      ] as const) {
        const possible = Object.entries(settings).filter(([, { needsScripts }]) => javaScriptEnabled || !needsScripts)
        // One after another: tests with time limits share the machine.
        for (const [, setting] of possible) {
          const context = await browser.newContext({ javaScriptEnabled })
          const page = await context.newPage()
          await use(page, setting, user)
          await context.close()
        }
      }
    } finally {
      applications?.kill()
      await server?.stop()
      await rm(directory, { recursive: true, force: true })
    }
  }

  for (const runtime of ['node', 'bun', 'deno'] as const) {
    const defineTest = (): void => test('sign users in, with scripts and without', () => signIn(runtime))
    // One after another.
    describeWith(missingFor(runtime), `at the server on ${runtime}`, defineTest, describe)
  }
})
