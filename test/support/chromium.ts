import { type Browser, chromium } from 'playwright-core'
import { describe, test } from 'vitest'
import { chromiumMissing, findChromium } from '../../scripts/find-chromium.js'

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

/**
 * Like `describe`. Without Chromium the tests are skipped with a message; in CI (`CI=true`) they fail instead, because
 * a build that proves nothing must not be green.
 */
export function describeWithChromium(name: string, define: () => void): void {
  if (executablePath === undefined && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(chromiumMissing)
    })
    return
  }
  if (executablePath === undefined) console.warn(`${name}: skipped. ${chromiumMissing}`)
  describe.skipIf(executablePath === undefined)(name, { timeout }, define)
}
