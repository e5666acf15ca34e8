import { createHash, generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { apple, github, grantry, upstream } from '@grantry/plugins/upstream'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningProvider, startProvider } from '../interop/running-server.ts'
import { certificate } from '../mtls/certificates.ts'
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
let otherGrantry: RunningProvider
let browser: Browser
let elsewhere: Server
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
  const otherClient = {
    clientId: 'grantry',
    public: true,
    requireConsent: false,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['http://127.0.0.1/connect/upstream/grantry/callback'],
  }
  return startProvider('', { plugins, clients: [otherClient], authorizationEndpoint: undefined })
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
      issuer: otherGrantry.issuer,
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
const shownBy: Readonly<Record<string, (url: URL, response: ServerResponse) => void>> = {
  'github.com': (url, response) => {
    response.writeHead(302, { location: gitHub.authorize(url) }).end()
  },
  'appleid.apple.com': (url, response) => {
    const { origin, pathname, searchParams } = new URL(appleDouble.authorize(url, { iss: undefined }))
    const fields = [...searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`)
    const form = `<form method="post" action="${origin + pathname}">${fields.join('')}<button>Continue</button></form>`
    response.writeHead(200, { 'content-type': 'text/html' }).end(form)
  },
}

/** Serves both on this machine. Playwright does not see where a response redirects to, so it cannot answer instead. */
async function serveProviders(): Promise<number> {
  const { pem, keyPem } = certificate()
  elsewhere = createServer({ cert: pem, key: keyPem }, (request, response) => {
    const { host = '' } = request.headers
    const url = new URL(request.url ?? '', `https://${host}`)
    const show = shownBy[host]
    // Some browsers ask for an icon.
    if (show === undefined || !url.searchParams.has('client_id')) response.writeHead(404).end()
    else show(url, response)
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  return (elsewhere.address() as AddressInfo).port
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
    const port = await serveProviders()
    const rules = Object.keys(shownBy).map((host) => `MAP ${host}:443 127.0.0.1:${port}`)
    ;[otherGrantry, browser] = await Promise.all([
      startOther(),
      startChromium([`--host-resolver-rules=${rules.join(',')}`]),
    ])
    running = await start()
  })
  afterAll(async () => {
    await Promise.all([running?.close(), otherGrantry?.close(), browser?.close()])
    elsewhere?.close()
  })

  async function open(javaScriptEnabled: boolean) {
    const viewport = { width: 390, height: 800 }
    const context = await browser.newContext({ javaScriptEnabled, viewport, ignoreHTTPSErrors: true })
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
