import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { chromiumMissing, findChromium } from '../../scripts/find-chromium.js'
import { describeWith } from './describe-with.ts'

const executablePath = findChromium()

/** Milliseconds that one test may take: a browser on a loaded machine is slow, and no test measures it. */
const timeout = 90_000

// No request goes to another host.
const quiet = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A headless browser. */
export function startChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(chromiumMissing)
  // Root cannot use Chromium's sandbox.
  const args = process.getuid?.() === 0 ? [...quiet, '--no-sandbox'] : quiet
  return chromium.launch({ executablePath, args })
}

/** Like `describe`, for tests that need Chromium. */
export const describeWithChromium = (name: string, define: () => void): void =>
  describeWith(executablePath === undefined ? chromiumMissing : undefined, name, define, (name, define) =>
    describe(name, { timeout }, define),
  )
