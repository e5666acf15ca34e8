// `npm run picture`: creates docs/console.png, the screenshot of the console in the README, and docs/administration.png,
// that of the administration in its guide.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
// Root cannot use Chromium's sandbox.
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })

/** Starts the server, calls `draw` with a page and the issuer, and stops the server. */
async function picture(file, args, draw) {
  const server = spawn(process.execPath, [here('start.js'), ...args, '--log-format', 'json'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let issuer
    for await (const line of createInterface({ input: server.stderr })) {
      issuer = /"server_listening".*"grantry\.issuer":"([^"]+)"/u.exec(line)?.[1]
      if (issuer !== undefined) break
    }
    if (issuer === undefined) throw new Error('The server has not started')
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' })
    await draw(page, issuer)
    await page.evaluate('scrollTo(0, 0)')
    await page.screenshot({ path: here(`../docs/${file}`) })
  } finally {
    server.kill()
  }
}

async function drawConsole(page, issuer) {
  await page.goto(`${issuer}/console`)
  await page.getByRole('button', { name: 'Request a token' }).click()
  await page.getByText('200: success').waitFor()
  await page.getByRole('button', { name: 'Introspect' }).click()
  await page.getByText('Introspect. 200: active').waitFor()
}

const administration = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'memory' },
  administration: true,
  console: true,
  clients: [],
  scopes: [{ name: 'orders' }],
  users: [
    {
      sub: 'alice',
      username: 'alice',
      // alice-password
      password: '$argon2id$v=19$m=19456,t=2,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$Jd4jhaelCjNTxvEYiwY3IVLLjXeXMjSqtBdhpK7V4fk',
    },
  ],
  plugins: [{ name: 'sign-in' }, { name: 'admin', administrators: ['alice'] }],
}

const clients = [
  {
    id: 'nightly-report',
    name: 'Nightly report',
    grants: 'client_credentials',
    scopes: 'orders',
    uris: '',
    tags: 'batch',
  },
  {
    id: 'shop',
    name: 'Example Shop',
    grants: 'authorization_code\nrefresh_token',
    scopes: 'openid\norders',
    uris: 'https://shop.example.com/callback',
    tags: 'web',
  },
  {
    id: 'shop-app',
    name: 'Example Shop for phones',
    grants: 'authorization_code',
    scopes: 'openid',
    uris: 'https://app.example.com/callback',
    tags: 'mobile',
  },
]

async function drawAdministration(page, issuer) {
  await page.goto(`${issuer}/console/`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('User name').fill('alice')
  await page.getByLabel('Password').fill('alice-password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  for (const { id, name, grants, scopes, uris, tags } of clients) {
    await page.getByRole('link', { name: 'Clients', exact: true }).click()
    await page.getByRole('link', { name: 'Add a client' }).click()
    await page.getByLabel('Client id').fill(id)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Grant types').fill(grants)
    await page.getByLabel('Scopes').fill(scopes)
    await page.getByLabel('Redirect URIs', { exact: true }).fill(uris)
    await page.getByLabel('Tags').fill(tags)
    await page.getByRole('button', { name: 'Add the client' }).click()
    await page.locator('#secret').waitFor()
  }
  await page.getByRole('link', { name: 'Clients', exact: true }).click()
  await page.getByRole('table', { name: 'Clients' }).waitFor()
}

try {
  await picture('console.png', ['--port', '0'], drawConsole)
  const file = join(directory, 'administration.json')
  writeFileSync(file, JSON.stringify(administration))
  await picture('administration.png', ['serve', '--config', file], drawAdministration)
} finally {
  await browser.close()
  rmSync(directory, { recursive: true, force: true })
}
