import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { endSession } from '@grantry/plugins/end-session'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { upstream } from '@grantry/plugins/upstream'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningProvider, startProvider } from '../interop/running-server.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { reservedPort } from '../support/reserved-port.ts'

// Users sign in at oidc-provider, which runs beside Grantry. It states `auth_time` only if a request has `max_age`.

const apps = fileURLToPath(new URL('apps/', import.meta.url))
const missing = existsSync(`${apps}../node_modules/oidc-provider`)
  ? undefined
  : 'Install the clients: npm ci --prefix test/relying-parties'

const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')
const goodbye = 'https://shop.example.com/goodbye'
const clientSecret = 'the secret of Grantry at the other provider'

/** Grantry, whose users sign in at the other provider only. */
async function startGrantry(issuer: string): Promise<RunningProvider> {
  const pages = createPages({ name: 'Example' })
  const there = { name: 'there', displayName: 'There', issuer, clientId: 'grantry', clientSecret, logout: true }
  const way = upstream({ providers: [{ ...there, allowPrivateAddresses: true }] })
  const interaction = signIn({ pages, ways: [way] })
  const features = [endSession({ pages, providers: way })]
  const client = {
    clientId: 'shop',
    public: true,
    clientName: 'Shop',
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1'],
    redirectUris: ['http://127.0.0.1/callback'],
    postLogoutRedirectUris: [goodbye],
  }
  const plugins = [authorizationCode(), proofKey(), authorizationEndpoint({ interaction, pages, features })]
  const users = { authenticate: () => undefined }
  return startProvider('', { plugins, clients: [client], users, authorizationEndpoint: undefined })
}

/** Starts the other provider. Returns what it has seen of authorization requests, too. */
async function startThere(issuer: string, grantry: string) {
  const at = `${grantry}/connect/upstream/there`
  const client = {
    client_id: 'grantry',
    client_secret: clientSecret,
    redirect_uris: [`${at}/callback`],
    post_logout_redirect_uris: [`${grantry}/connect/endsession/return`],
    backchannel_logout_uri: `${at}/logout`,
  }
  const setting = { issuer, port: Number(new URL(issuer).port), client }
  const env = { ...process.env, PROVIDER: JSON.stringify(setting) }
  const child = spawn(process.execPath, [`${apps}oidc-provider.js`], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error('The provider has ended before it listened')
  })
  await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => {})
  const seen = () => out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as object] : []))
  return { child, seen }
}

describeWithChromium('a sign-in at oidc-provider, in a browser', () => {
  let browser: Browser
  let running: RunningProvider
  let there: { readonly child: ChildProcess; readonly seen: () => readonly object[] } | undefined
  let issuer: string

  beforeAll(async () => {
    if (missing !== undefined) return
    issuer = `http://127.0.0.1:${await reservedPort()}`
    ;[running, browser] = await Promise.all([startGrantry(issuer), startChromium()])
    there = await startThere(issuer, running.issuer)
  })
  afterAll(async () => {
    there?.child.stdin?.end()
    await Promise.all([running?.close(), browser?.close()])
  })

  const redirectUri = () => `${running.issuer}/callback`
  const authorizeUrl = (more: Readonly<Record<string, string>> = {}): string => {
    const query = {
      client_id: 'shop',
      response_type: 'code',
      scope: 'openid api1',
      redirect_uri: redirectUri(),
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    }
    return `${running.issuer}/connect/authorize?${new URLSearchParams(query)}`
  }

  async function open(javaScriptEnabled: boolean) {
    const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 390, height: 800 } })
    // Its pages ask for a font.
    await context.route('https://fonts.googleapis.com/**', (route) => route.abort())
    const page = await context.newPage()
    await page.goto(authorizeUrl())
    return { context, page }
  }

  async function enterThere(page: Page, user: string, isKnown = false): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill(user)
    await page.getByPlaceholder('and password').fill('any password')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    if (!isKnown) await page.getByRole('button', { name: 'Continue' }).click()
  }

  const followLink = (page: Page) => page.getByRole('link', { name: 'Continue with There' }).click()

  /** Consents if the page asks, and returns the token response of the client. */
  async function finish(page: Page) {
    const allow = page.getByRole('button', { name: 'Allow' })
    await allow.or(page.getByText('There is no such page')).first().waitFor()
    if (await allow.isVisible()) await allow.click({ noWaitAfter: true })
    await page.waitForURL(`${redirectUri()}?**`)
    const code = new URL(page.url()).searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri(), client_id: 'shop' }
    const body = new URLSearchParams({ ...form, code_verifier: verifier })
    const response = await fetch(`${running.issuer}/connect/token`, { method: 'POST', body })
    const { id_token: idToken } = (await response.json()) as { id_token: string }
    return { idToken, claims: decodeJwt(idToken)?.claims ?? {} }
  }

  /** A context in which alice has signed in, and what the client has received. */
  async function signedIn(withScript: boolean) {
    const { context, page } = await open(withScript)
    await followLink(page)
    await enterThere(page, 'alice')
    return { context, page, ...(await finish(page)) }
  }

  const isSignedIn = async (context: BrowserContext): Promise<boolean> => {
    const page = await context.newPage()
    await page.goto(authorizeUrl({ prompt: 'none' }))
    const { searchParams } = new URL(page.url())
    await page.close()
    return searchParams.get('error') !== 'login_required'
  }

  const defineTests = (): void => {
    test.each([false, true])('18.1 discovery, PKCE, nonce, iss and claims, with script: %s', async (withScript) => {
      const { context, claims } = await signedIn(withScript)
      expect(claims).toMatchObject({ iss: running.issuer, idp: 'there', amr: ['external'] })
      expect(claims.sub).toMatch(/^[\w-]{43}$/u)
      expect(there?.seen().at(-1)).toEqual({ nonce: 43, state: 43 })
      await context.close()
    })

    test.each([false, true])('18.8 a demand leads to a new sign-in there, with script: %s', async (withScript) => {
      const { context, page } = await signedIn(withScript)
      // It has stated no auth_time: the session does not count as recent.
      await page.goto(authorizeUrl({ max_age: '600' }))
      await followLink(page)
      // Its session is younger than that, and it says when its user has authenticated.
      const { claims } = await finish(page)
      expect(claims.auth_time).toBeLessThanOrEqual(Date.now() / 1000)
      await page.goto(authorizeUrl({ prompt: 'login' }))
      await followLink(page)
      await enterThere(page, 'alice', true)
      expect((await finish(page)).claims.auth_time).toBeGreaterThanOrEqual(Number(claims.auth_time))
      await context.close()
    })

    test.each([false, true])('18.10 a user who cancels there, with script: %s', async (withScript) => {
      const { context, page } = await open(withScript)
      await followLink(page)
      await page.getByRole('link', { name: 'Cancel' }).click()
      await page.getByText('The sign-in at There was canceled or refused').waitFor()
      await page.getByLabel('Password', { exact: true }).waitFor()
      await context.close()
    })

    test.each([false, true])('another user than the client expects, with script: %s', async (withScript) => {
      const { context, idToken } = await signedIn(withScript)
      await context.close()
      const forBob = await open(withScript)
      await forBob.page.goto(authorizeUrl({ id_token_hint: idToken }))
      await followLink(forBob.page)
      await enterThere(forBob.page, 'bob')
      await forBob.page.waitForURL(`${redirectUri()}?**`)
      const { searchParams } = new URL(forBob.page.url())
      expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['login_required', null])
      await forBob.context.close()
    })

    test.each([false, true])('18.16 a logout here ends the session there, with script: %s', async (withScript) => {
      const { context, page } = await signedIn(withScript)
      const query = new URLSearchParams({ client_id: 'shop', post_logout_redirect_uri: goodbye })
      await page.goto(`${running.issuer}/connect/endsession?${query}`)
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      const arrived = page.waitForRequest(goodbye)
      await page.getByRole('button', { name: 'Yes, sign me out' }).click({ noWaitAfter: true })
      await arrived
      expect(await isSignedIn(context)).toBe(false)
      const next = await context.newPage()
      await next.goto(authorizeUrl())
      await followLink(next)
      await next.getByPlaceholder('Enter any login').waitFor()
      await context.close()
    })

    test.each([false, true])('18.14 a logout there ends the session here, with script: %s', async (withScript) => {
      const { context, page } = await signedIn(withScript)
      expect(await isSignedIn(context)).toBe(true)
      await page.goto(`${issuer}/session/end`)
      await page.getByRole('button', { name: 'Yes, sign me out' }).click()
      await expect.poll(() => isSignedIn(context)).toBe(false)
      await context.close()
    })
  }
  describeWith(missing, 'beside this provider', defineTests, describe)
})
