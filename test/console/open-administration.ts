import { parseConfiguration } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { LoadedConfiguration } from '../../packages/server/src/configuration/load.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

/** The cheapest allowed argon2id hashes of `alice-password` and `bob-password`: these tests are not about passwords. */
const hashes = {
  alice: '$argon2id$v=19$m=8,t=1,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sC7imsSgSm2oiTwkNYevgNdOVD7fmvPIQACE91e1or0',
  bob: '$argon2id$v=19$m=8,t=1,p=1$Z3JhbnRyeS1kZW1vLWJvYg$PPw0LJm2pJcPefdsS42V0q1BS+l1ABG001BOYZQ5uHs',
}

const secret = 'k7Zt2mQw9xLr4vPa'

/** The configuration of a server whose administrator is alice. bob is a user as any other. */
export const administrationInput = (issuer: string) => ({
  issuer,
  storage: { driver: 'memory' },
  // For the servers of other runtimes too: on a busy machine, the hash of a password takes longer than the usual limit.
  hostTimeLimit: 60,
  storageTimeLimit: 60,
  administration: true,
  console: true,
  clients: [
    { clientId: 'ops', secrets: [{ sha256: sha256Of(secret) }], grantTypes: ['client_credentials'], scopes: ['admin'] },
  ],
  users: [
    { sub: 'alice-sub', username: 'alice', password: hashes.alice },
    { sub: 'bob-sub', username: 'bob', password: hashes.bob },
  ],
  plugins: [{ name: 'sign-in' }, { name: 'admin', clients: ['ops'], administrators: ['alice-sub'] }],
})

export interface AdministrationServer {
  readonly server: GrantryServer
  readonly issuer: string
  readonly url: string
  /** Changes something besides the browser, as a program does. Returns the body. */
  send(method: string, path: string, body?: object, version?: string): Promise<Record<string, unknown>>
}

async function tokenOf(issuer: string): Promise<string> {
  const response = await fetch(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(['ops', secret]) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'admin' }),
  })
  const { access_token: token } = (await response.json()) as { readonly access_token: string }
  return token
}

/** Returns a configuration as it is read from a file. */
export const loadedOf = (input: object): LoadedConfiguration => ({
  configuration: parseConfiguration(configurationSchema, input, ''),
  file: '/etc/grantry.config.json',
  directory: '/etc',
})

/** Starts a server with the administration in this process. */
export async function startAdministrationServer(change: object = {}): Promise<AdministrationServer> {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const loaded = loadedOf({ ...administrationInput(issuer), ...change })
  const server = await startServer({ loaded, port, observe: () => {} })
  let token: Promise<string> | undefined
  return {
    server,
    issuer,
    url: `${issuer}/console/`,
    async send(method, path, body, version) {
      token ??= tokenOf(issuer)
      const headers = {
        authorization: `Bearer ${await token}`,
        'content-type': 'application/json',
        ...(version !== undefined && { 'if-match': version }),
      }
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const response = await fetch(`${issuer}/admin/v1${path}`, init)
      if (!response.ok) throw new Error(await response.text())
      return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>)
    },
  }
}

/** The browser logs a 4xx response as an error, but refusals are expected. */
const isRefusal = (text: string): boolean => /^Failed to load resource: .* status of 4\d\d/u.test(text)

/** Opens a page, and collects violations of the policy, errors, and requests to other hosts. */
export async function openTab(context: BrowserContext, url: string) {
  const page = await context.newPage()
  const problems: string[] = []
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI}`)
    })
  })
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type()) || isRefusal(message.text())) return
    problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const { protocol, origin, href } = new URL(request.url())
    if (protocol !== 'data:' && origin !== new URL(url).origin) problems.push(`requested ${href}`)
  })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(url)
  return { page, problems, assertClean: () => expect(problems).toEqual([]) }
}

/** Fills in the page of the sign-in. */
export async function fillSignIn(page: Page, user: string): Promise<void> {
  await page.getByLabel('User name').fill(user)
  await page.getByLabel('Password').fill(`${user}-password`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Opens the administration in a new tab, and signs in. */
export async function openAdministration(context: BrowserContext, url: string, user = 'alice') {
  const tab = await openTab(context, url)
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await fillSignIn(tab.page, user)
  return tab
}

/** Waits for a page of the administration by its heading. */
export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()

/** Opens a page of the administration by its fragment, without loading the document again. */
export async function goTo(page: Page, hash: string, name: string | RegExp): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await heading(page, name)
}
