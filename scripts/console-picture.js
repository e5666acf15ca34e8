// `npm run picture`: creates docs/console.png, the screenshot of the console in the README.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { chromiumMissing, findChromium } from './find-chromium.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

const executablePath = findChromium()
if (executablePath === undefined) throw new Error(chromiumMissing)
const directory = mkdtempSync(join(tmpdir(), 'grantry-picture-'))
const demo = spawn(process.execPath, [here('start.js'), '--port', '0', '--log-format', 'json'], {
  cwd: directory,
  stdio: ['ignore', 'ignore', 'pipe'],
})
// Root cannot use Chromium's sandbox.
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
try {
  let issuer
  for await (const line of createInterface({ input: demo.stderr })) {
    issuer = /"server_listening".*"grantry\.issuer":"([^"]+)"/u.exec(line)?.[1]
    if (issuer !== undefined) break
  }
  if (issuer === undefined) throw new Error('The demo has not started')
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' })
  await page.goto(`${issuer}/console`)
  await page.getByRole('button', { name: 'Request a token' }).click()
  await page.getByText('200: success').waitFor()
  await page.getByRole('button', { name: 'Introspect' }).click()
  await page.getByText('Introspect. 200: active').waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await page.screenshot({ path: here('../docs/console.png') })
} finally {
  await browser.close()
  demo.kill()
  rmSync(directory, { recursive: true, force: true })
}
