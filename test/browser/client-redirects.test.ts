// Browsers apply `form-action` to every redirect after a form, so also to those of the client after its redirect URI.
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { serve } from '@grantry/adapters/node'
import { webRuntime } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { challenge, clients } from '../authorization/parties.ts'
import { certificate } from '../mtls/certificates.ts'
import { setUpSignIn } from '../sign-in/parties.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

const servers: Server[] = []
let browser: Browser
let issuer: string
let close: () => Promise<void>
/** The origins of the clients by their scheme. */
const origins: Record<string, string> = {}
/** Where the clients redirect on to. */
const ends: Record<string, string> = { 'an application': 'claude://claude.ai/done', 'another port': '' }

async function listening(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A client whose redirect URIs name in their path where it redirects on to. */
const client: RequestListener = (request, response) => {
  const [, end = ''] = new URL(request.url ?? '', 'http://client').pathname.split('/')
  response.writeHead(303, { location: `${ends[decodeURIComponent(end)]}?from=client` }).end()
}

const redirectUriOf = (scheme: string, end: string): string => `${origins[scheme]}/${encodeURIComponent(end)}`

describeWithChromium('a client that redirects on, in a browser', () => {
  beforeAll(async () => {
    const { pem, keyPem } = certificate()
    origins.http = `http://${await listening(createServer(client))}`
    origins.https = `https://${await listening(createTlsServer({ cert: pem, key: keyPem }, client))}`
    const end = createServer((_request, response) => response.end('done'))
    ends['another port'] = `http://${await listening(end)}/done`
    const port = await reservedPort()
    issuer = `http://localhost:${port}`
    const uris = ['http', 'https'].flatMap((scheme) => Object.keys(ends).map((name) => redirectUriOf(scheme, name)))
    const withUris = { ...clients[0], redirectUris: uris, postLogoutRedirectUris: uris }
    const pages = createPages()
    const f = await setUpSignIn(
      { pages, secondFactors: [{ amr: 'otp', isSetUp: (sub) => sub === 'alice', verify: (_, code) => code === '1' }] },
      {
        issuer,
        runtime: { now: webRuntime.now },
        clients: [
          { ...withUris, clientId: 'own', requireConsent: false },
          { ...withUris, clientId: 'asking' },
          ...clients.filter(({ clientId }) => clientId === 'spa'),
        ],
      },
      { pages, features: [endSession({ pages })] },
    )
    const running = await serve(f.provider, { port })
    close = () => running.close()
    browser = await startChromium()
  })
  afterAll(async () => {
    await Promise.all([close?.(), browser?.close()])
    for (const server of servers) server.close()
  })

  const cases = ['http', 'https'].flatMap((scheme) => Object.keys(ends).map((end) => [scheme, end] as const))

  test.each(cases)('reaches its end after each form: %s to %s', async (scheme, end) => {
    const redirectUri = redirectUriOf(scheme, end)
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const problems: string[] = []

    /** Opens a URL in a new tab, runs steps, and waits until the form has led to where the client redirects to. */
    async function reaches(path: string, parameters: Readonly<Record<string, string>>, last: string, steps = {}) {
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      await devtools.send('Network.enable')
      const settled = new Promise<void>((resolve) => {
        const check = (url: string): void => {
          if (url === `${ends[end]}?from=client`) resolve()
        }
        // Sent to the browser's network stack, from any of its processes, or, for a scheme of an application, to the system.
        page.on('request', (request) => check(request.url()))
        devtools.on('Network.requestWillBeSent', ({ request }) => check(request.url))
        page.on('console', (message) => {
          problems.push(`${path}, ${last}: ${message.text()}`)
          resolve()
        })
      })
      await page.goto(`${issuer}/connect/${path}?${new URLSearchParams(parameters)}`)
      for (const [selector, text] of Object.entries<string>(steps)) {
        await (text === '' ? page.click(selector) : page.fill(selector, text))
      }
      await page.click(last)
      await settled
      await page.close()
    }

    const request = { client_id: 'own', redirect_uri: redirectUri, response_type: 'code', scope: 'openid' }
    const asking = { ...request, client_id: 'asking', prompt: 'consent' }
    const password = (name: string) => ({ '#username': name, '#password': `${name}-password` })
    try {
      await reaches('authorize', request, '#sign-in', password('bob'))
      const steps = { ...password('alice'), '#sign-in': '', '#code': '1' }
      await reaches('authorize', { ...request, prompt: 'login' }, '#confirm', steps)
      await reaches('authorize', { ...request, prompt: 'select_account' }, '.account')
      await reaches('authorize', asking, '#allow')
      await reaches('authorize', { ...asking, response_mode: 'form_post' }, '#allow')
      await reaches('endsession', { client_id: 'own', post_logout_redirect_uri: redirectUri }, '#logout')
      expect(problems).toEqual([])
    } finally {
      await context.close()
    }
  })

  // RFC 8252 section 7.1: the browser opens the application, and leaves the page as it is.
  test('says after a form that the page can be closed, if the response has opened an application', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.clock.install()
    const redirectUri = 'com.example.app:/callback'
    const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
    const request = { client_id: 'spa', redirect_uri: redirectUri, response_type: 'code', scope: 'openid', ...proof }
    const said = 'If the application has opened, you can close this page.'
    try {
      await page.goto(`${issuer}/connect/authorize?${new URLSearchParams(request)}`)
      expect(await page.textContent('#opened')).toBe('')
      await page.fill('#username', 'bob')
      await page.fill('#password', 'bob-password')
      await page.click('#sign-in')
      await page.click('#allow')
      expect(await page.textContent('#opened')).toBe('')
      await page.clock.runFor(4000)
      expect(await page.textContent('#opened')).toBe(said)
      await page.goto(
        `${issuer}/connect/authorize?${new URLSearchParams({ ...request, redirect_uri: 'http://127.0.0.1/callback' })}`,
      )
      expect(await page.locator('#opened').count()).toBe(0)
    } finally {
      await context.close()
    }
  })
})
