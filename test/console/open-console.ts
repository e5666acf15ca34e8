import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { type RunningCommand, startCommand } from '../server/running-command.ts'
import { startChromium } from '../support/chromium.ts'
import { listeningAddress } from '../support/listening.ts'

/** Starts the demo like `npm start`. */
export interface Demo {
  readonly url: string
  readonly server: RunningCommand
  stop(): Promise<void>
}

async function startDemo(): Promise<Demo> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-'))
  const server = await startCommand(['--port', '0'], directory)
  const url = `http://${listeningAddress(server.output().err)}/console`
  return {
    url,
    server,
    async stop() {
      expect(await server.stop()).toBe(0)
      await rm(directory, { recursive: true })
    },
  }
}

/** A browser with one page for all tests of a suite, because a new page costs more than all that a test does in it. */
export async function startBrowser(): Promise<{ readonly browser: Browser; readonly page: Page }> {
  const browser = await startChromium()
  const page = await browser.newPage()
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI}`)
    })
  })
  return { browser, page }
}

/** Starts the demo and a browser for all tests of a suite. */
export function demoInBrowser(): { readonly demo: Demo; readonly browser: Browser; readonly page: Page } {
  const started = {} as { demo: Demo; browser: Browser; page: Page }
  beforeAll(async () => {
    await Promise.all([
      startBrowser().then((open) => Object.assign(started, open)),
      startDemo().then((demo) => Object.assign(started, { demo })),
    ])
  })
  afterAll(async () => {
    await started.browser?.close()
    await started.demo?.stop()
  })
  return started
}

/** The console in a browser. */
export interface OpenConsole {
  readonly page: Page
  /** Presses a button by its name and waits for the outcome. */
  press(name: string, says: string | RegExp): Promise<void>
  /** Gets an authorization code: signs in as alice, in another tab. */
  signIn(): Promise<void>
  /** The outcome of the last request. */
  outcome(): Promise<string>
  choose(label: string, value: string): Promise<void>
  /** Policy violations, errors and requests to other hosts. */
  readonly problems: readonly string[]
  assertClean(): void
}

/** The browser logs a 4xx response as an error, but refusals are expected. */
const isRefusal = (text: string): boolean => /^Failed to load resource: .* status of 4\d\d/u.test(text)

export interface ConsoleOptions {
  readonly width?: number
  /** Runs before the page is loaded, to replace responses with `page.route`. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

/** Completes the pages of a sign-in, of which the browser may need none, and closes their tab. */
async function signInAs(user: string, tab: Page): Promise<void> {
  const closed = tab.getByText('You can close this tab')
  const username = tab.getByLabel('User name')
  const allow = tab.getByRole('button', { name: 'Allow' })
  await username.or(allow).or(closed).waitFor()
  if (await username.isVisible()) {
    await username.fill(user)
    await tab.getByLabel('Password').fill(`${user}-password`)
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  await allow.or(closed).waitFor()
  if (await allow.isVisible()) await allow.click()
  await closed.waitFor()
  await tab.close()
}

/** Loads the console in a page that another test may have used before. */
export async function openConsole(
  page: Page,
  url: string,
  { width = 1600, prepare = async () => {} }: ConsoleOptions = {},
): Promise<OpenConsole> {
  for (const event of ['console', 'pageerror', 'request'] as const) page.removeAllListeners(event)
  await page.unrouteAll()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!isRefusal(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const requested = new URL(request.url())
    if (requested.protocol !== 'data:' && requested.origin !== new URL(url).origin)
      problems.push(`requested ${requested.href}`)
  })
  await page.setViewportSize({ width, height: 1000 })
  // Without animations no click waits for one, and colors change in one step, which axe would find halfway.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await prepare(page)
  await page.goto(url)
  await page.getByLabel('Client', { exact: true }).waitFor()
  const outcome = () => page.locator('#outcome').innerText()
  return {
    page,
    outcome,
    async press(name, says) {
      await page.getByRole('button', { name, exact: true }).click()
      await page.locator('#outcome').filter({ hasText: says }).waitFor()
    },
    async signIn() {
      const opening = page.context().waitForEvent('page')
      await page.getByRole('button', { name: 'Sign in and get a code' }).click()
      await signInAs('alice', await opening)
      await page.locator('#sign-in-outcome', { hasText: 'The code is filled in' }).waitFor()
    },
    async choose(label, value) {
      await page.getByLabel(label, { exact: true }).selectOption(value)
    },
    problems,
    assertClean() {
      expect(problems).toEqual([])
    },
  }
}
