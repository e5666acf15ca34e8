import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { chromiumMissing, findChromium } from '../../scripts/find-chromium.js'
import { describeWith } from './describe-with.ts'
import { lastResort } from './eventually.ts'

const executablePath = findChromium()

// Chromium obeys the last list of features only, so the first ones are those of Playwright (`disabledFeatures` in its
// `chromiumSwitches`).
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  // Two processes more for each page: they would take three quarters of the CPU time of opening one.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'PreloadTopChromeWebUI',
  'SpareRendererForSitePerProcess',
]

// No request goes to another host.
const quiet = [
  `--disable-features=${disabledFeatures.join(',')}`,
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A headless browser, with further options of its command line. */
export async function startChromium(more: readonly string[] = []): Promise<Browser> {
  if (executablePath === undefined) throw new Error(chromiumMissing)
  // Root cannot use Chromium's sandbox.
  const args = process.getuid?.() === 0 ? [...quiet, ...more, '--no-sandbox'] : [...quiet, ...more]
  const browser = await chromium.launch({ executablePath, args, timeout: lastResort })
  browser.on('context', (context) => context.setDefaultTimeout(lastResort))
  return browser
}

/** Like `describe`, for tests that need Chromium. */
export const describeWithChromium = (name: string, define: () => void): void =>
  describeWith(executablePath === undefined ? chromiumMissing : undefined, name, define, describe)
