import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { chromiumMissing, findChromium } from '../../scripts/find-chromium.js'
import { describeWith } from './describe-with.ts'
import { lastResort } from './eventually.ts'

const executablePath = findChromium()

// No request goes to another host.
const quiet = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A headless browser. */
export async function startChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(chromiumMissing)
  // Root cannot use Chromium's sandbox.
  const args = process.getuid?.() === 0 ? [...quiet, '--no-sandbox'] : quiet
  const browser = await chromium.launch({ executablePath, args, timeout: lastResort })
  browser.on('context', (context) => context.setDefaultTimeout(lastResort))
  return browser
}

/** Like `describe`, for tests that need Chromium. */
export const describeWithChromium = (name: string, define: () => void): void =>
  describeWith(executablePath === undefined ? chromiumMissing : undefined, name, define, describe)
