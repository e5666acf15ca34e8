// `npm run pictures:pages`: takes a screenshot of every page of `@grantry/pages` in test/pages/.pictures/, at 390 and 1280
// pixels, light and dark. Arguments: languages (default: en).
import { mkdirSync } from 'node:fs'
import { createPages } from '@grantry/pages'
import { chromium } from 'playwright-core'
import { views } from '../test/pages/views.ts'
import { chromiumMissing, findChromium } from './find-chromium.js'

const executablePath = findChromium()
if (executablePath === undefined) throw new Error(chromiumMissing)
const directory = 'test/pages/.pictures'
mkdirSync(directory, { recursive: true })
const locales = process.argv.length > 2 ? process.argv.slice(2) : ['en']
const pages = createPages({ name: 'Example Accounts', links: { privacy: 'https://example.com/privacy' } })

// Root cannot use Chromium's sandbox.
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [390, 1280]) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        javaScriptEnabled: false,
        offline: true,
      })
      const page = await context.newPage()
      for (const locale of locales) {
        for (const [name, view] of Object.entries(views)) {
          await page.setContent(view(pages, locale).html)
          await page.screenshot({ path: `${directory}/${name}-${locale}-${width}-${colorScheme}.png`, fullPage: true })
        }
      }
      await context.close()
    }
  }
} finally {
  await browser.close()
}
process.stdout.write(`The pictures are in ${directory}\n`)
