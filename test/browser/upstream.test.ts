import { createHash, generateKeyPairSync } from 'node:crypto'
import { decodeJwt } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { apple, github, grantry, upstream } from '@grantry/plugins/upstream'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningProvider, startProvider } from '../interop/running-server.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { createGithubDouble } from '../upstream/github-double.ts'
import { createOpenIdDouble } from '../upstream/openid-double.ts'

const client = {
  clientId: 'shop',
  public: true,
  clientName: 'Shop',
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris: ['http://127.0.0.1/callback'],
}

let running: RunningProvider
let other: RunningProvider
let browser: Browser
const gitHub = createGithubDouble()
const appleDouble = await createOpenIdDouble({
  issuer: 'https://appleid.apple.com',
  clientId: 'com.example.web',
  metadata: { authorization_response_iss_parameter_supported: false },
})

/** Another Grantry, with users of its own. Its client is on this machine, at any port. */
const startOther = (): Promise<RunningProvider> => {
  const pages = createPages({ name: 'Other' })
  const plugins = [authorizationCode(), proofKey(), authorizationEndpoint({ interaction: signIn({ pages }), pages })]
  const own = {
    clientId: 'grantry',
    public: true,
    requireConsent: false,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['http://127.0.0.1/connect/upstream/grantry/callback'],
  }
  return startProvider('', { plugins, clients: [own], authorizationEndpoint: undefined })
}

const fetchOf = (url: string, init: RequestInit): Promise<Response> => {
  if (url.includes('github.com')) return gitHub.fetch(url, init)
  return url.startsWith(appleDouble.issuer) ? appleDouble.fetch(url, init) : fetch(url, init)
}

function start(): Promise<RunningProvider> {
  const pages = createPages({ name: 'Example' })
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const providers = [
    grantry({
      issuer: other.issuer,
      displayName: 'Other',
      clientId: 'grantry',
      scope: 'openid',
      allowPrivateAddresses: true,
    }),
    github({ clientId: 'grantry', clientSecret: 'secret' }),
    apple({ clientId: 'com.example.web', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: key as string }),
  ]
  const ways = [upstream({ providers, fetch: fetchOf })]
  const interaction = signIn({ pages, ways })
  const plugins = [authorizationCode(), proofKey(), authorizationEndpoint({ interaction, pages })]
  return startProvider('', {
    plugins,
    clients: [client],
    users: { authenticate: () => undefined },
    authorizationEndpoint: undefined,
  })
}

/** What GitHub and Apple show: a redirect, and a form that the page of Apple sends. */
async function serveProviders(context: BrowserContext): Promise<void> {
  await context.route('https://github.com/**', (route) =>
    route.fulfill({ status: 302, headers: { location: gitHub.authorize(new URL(route.request().url())) } }),
  )
  await context.route('https://appleid.apple.com/**', (route) => {
    const response = new URL(appleDouble.authorize(new URL(route.request().url()), { iss: undefined }))
    const fields = [...response.searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`)
    const action = response.origin + response.pathname
    const body = `<form method="post" action="${action}">${fields.join('')}<button>Continue</button></form>`
    return route.fulfill({ contentType: 'text/html', body })
  })
}

/** The application, on this machine: the server has no page there. */
const redirectUri = (): string => `${running.issuer}/callback`

const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')
const authorizeUrl = (): string => {
  const query = {
    client_id: 'shop',
    response_type: 'code',
    scope: 'openid api1',
    redirect_uri: redirectUri(),
  }
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
  return `${running.issuer}/connect/authorize?${new URLSearchParams({ ...query, ...proof })}`
}

/** Consents, and returns the identity token of the client. */
async function finish(page: Page) {
  await page.getByRole('button', { name: 'Allow' }).click({ noWaitAfter: true })
  await page.waitForURL(`${redirectUri()}?**`)
  const code = new URL(page.url()).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri(), client_id: 'shop' }
  const body = new URLSearchParams({ ...form, code_verifier: verifier })
  const response = await fetch(`${running.issuer}/connect/token`, { method: 'POST', body })
  const { id_token } = (await response.json()) as { id_token: string }
  return decodeJwt(id_token)?.claims
}

describeWithChromium('a sign-in at another provider, in a browser', () => {
  beforeAll(async () => {
    ;[other, browser] = await Promise.all([startOther(), startChromium()])
    running = await start()
  })
  afterAll(() => Promise.all([running?.close(), other?.close(), browser?.close()]))

  async function open(javaScriptEnabled: boolean) {
    const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 390, height: 800 } })
    await serveProviders(context)
    const page = await context.newPage()
    await page.goto(authorizeUrl())
    return { context, page }
  }

  test.each([false, true])('another Grantry, with script: %s', async (withScript) => {
    const { context, page } = await open(withScript)
    if (withScript) expect(await violationsIn(page)).toEqual([])
    await page.getByRole('link', { name: 'Continue with Other' }).click()
    await page.getByLabel('User name').fill('alice')
    await page.getByLabel('Password', { exact: true }).fill('alice-password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const claims = await finish(page)
    expect(claims).toMatchObject({ idp: 'grantry', amr: ['pwd'] })
    expect(claims?.sub).toMatch(/^[\w-]{43}$/u)
    await context.close()
  })

  test.each([false, true])('GitHub, with script: %s', async (withScript) => {
    const { context, page } = await open(withScript)
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    expect(await finish(page)).toMatchObject({ idp: 'github', amr: ['external'] })
    await context.close()
  })

  test.each([false, true])('Apple, whose form is of another site, with script: %s', async (withScript) => {
    const { context, page } = await open(withScript)
    await page.getByRole('link', { name: 'Continue with Apple' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(page.url()).not.toContain('code=')
    expect(await finish(page)).toMatchObject({ idp: 'apple' })
    await context.close()
  })

  test('a user who cancels there comes back to the page, with the reason', async () => {
    const { context, page } = await open(true)
    await page.getByRole('link', { name: 'Continue with Other' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The sign-in at Other was canceled or refused').waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.getByRole('link', { name: 'Continue with GitHub' }).waitFor()
    await context.close()
  })
})
