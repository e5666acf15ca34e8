import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { type RunningCommand, startCommand } from '../server/running-command.ts'
import { startChromium } from '../support/chromium.ts'
import { listeningAddress } from '../support/listening.ts'

/** The demo as `npm start` runs it. */
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

/** The demo and a browser for all tests of a suite. */
export function demoInBrowser(): { readonly demo: Demo; readonly browser: Browser } {
  const started = {} as { demo: Demo; browser: Browser }
  beforeAll(async () => {
    started.browser = await startChromium()
    started.demo = await startDemo()
  }, 60_000)
  afterAll(async () => {
    await started.browser?.close()
    await started.demo?.stop()
  })
  return started
}

/** As `expect.poll`, with the patience that a loaded machine needs. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 15_000 })

/** The console in a browser, watched. */
export interface OpenConsole {
  readonly page: Page
  /** Presses a button by its name and waits for what the page says then. */
  press(name: string, says: string | RegExp): Promise<void>
  /** What the page says of the last answer. */
  outcome(): Promise<string>
  choose(label: string, value: string): Promise<void>
  /** What the policy refused, what failed, who else was asked. */
  readonly problems: readonly string[]
  assertClean(): void
  close(): Promise<void>
}

/** A refusal of the server is an answer; the browser counts it as an error all the same. */
const isRefusal = (text: string): boolean => /^Failed to load resource: .* status of 4\d\d/u.test(text)

export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<OpenConsole> {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!isRefusal(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.protocol !== 'data:' && asked.origin !== new URL(url).origin) problems.push(`asked ${asked.href}`)
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI}`)
    })
  })
  await prepare(page)
  await page.goto(url)
  await page.getByLabel('Client', { exact: true }).waitFor()
  const outcome = () => page.locator('#outcome').innerText()
  return {
    page,
    outcome,
    async press(name, says) {
      await page.getByRole('button', { name, exact: true }).click()
      await eventually(outcome).toMatch(says)
    },
    async choose(label, value) {
      await page.getByLabel(label, { exact: true }).selectOption(value)
    },
    problems,
    assertClean() {
      expect(problems).toEqual([])
    },
    close: () => context.close(),
  }
}
