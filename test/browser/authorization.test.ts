import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@grantry/adapters/node'
import { webRuntime } from '@grantry/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownPages } from '../authorization/own-pages.ts'
import { clients, setUp } from '../authorization/parties.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

/** What the client has received at its redirect URI. */
interface Received {
  readonly method: string | undefined
  readonly contentType: string | undefined
  readonly search: string
  readonly body: string
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

let client: Server
let origin: string
let issuer: string
let browser: Browser
let close: () => Promise<void>
let received: Received[] = []

/** A client that ends at a third site, as many do after the callback, and has a page with a form to the provider. */
function startClient(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://client')
    if (url.pathname === '/callback') {
      const { method, headers } = request
      received.push({ method, contentType: headers['content-type'], search: url.search, body: await bodyOf(request) })
      response.writeHead(303, { location: `${origin.replace('127.0.0.1', 'localhost')}/done` }).end()
    } else if (url.pathname === '/start') {
      const fields = [...url.searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`)
      const html = `<form method="post" action="${issuer}/connect/authorize">${fields.join('')}<button id="go">Go</button></form>`
      response.writeHead(200, { 'content-type': 'text/html' }).end(html)
    } else response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>done</h1>')
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const state = `a "quoted" <state> & 'more' ü`

const parameters = (more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({
    client_id: 'web',
    redirect_uri: `${origin}/callback`,
    response_type: 'code',
    scope: 'openid',
    state,
    nonce: 'n-0S6_WzA2Mj',
    ...more,
  })

/** Opens a page, and runs a test with it. A message of the console is a failure. */
async function withPage(javaScriptEnabled: boolean, run: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled })
  try {
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    received = []
    await run(page)
    // Browsers ask for an icon, which neither site has.
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
  } finally {
    await context.close()
  }
}

const formOf = ({ body }: Received) => Object.fromEntries(new URLSearchParams(body))

describeWithChromium('the authorization endpoint, in a browser', () => {
  beforeAll(async () => {
    client = await startClient()
    origin = `http://127.0.0.1:${(client.address() as AddressInfo).port}`
    const port = await reservedPort()
    // Another site than that of the client, so that browsers treat its cookies as those of a third party.
    issuer = `http://localhost:${port}`
    const signsIn: typeof ownPages = {
      ...ownPages,
      async interact(interaction) {
        const reply = await ownPages.interact(interaction)
        if (!('html' in reply) || reply.html === undefined) return reply
        const html = reply.html.replace(
          '<form>',
          '<form method="post" action="/test/sign-in"><input name="username"><button id="go">Go</button>',
        )
        return { html, sources: { form: ['https:', 'http:'] } }
      },
    }
    const more = { issuer, runtime: { now: webRuntime.now } }
    const f = await setUp(
      signsIn,
      {},
      {
        ...more,
        clients: clients.map((client) =>
          client.clientId === 'web' ? { ...client, redirectUris: [`${origin}/callback`] } : client,
        ),
      },
    )
    const running = await serve(f.provider, { port })
    close = () => running.close()
    browser = await startChromium()
  })
  afterAll(() => Promise.all([close?.(), browser?.close(), client?.close()]))

  const signIn = async (page: Page, more: Readonly<Record<string, string>> = {}) => {
    await page.goto(`${issuer}/connect/authorize?${parameters(more)}`)
    await page.fill('input[name=username]', 'alice')
    await page.click('#go')
  }

  test.each([
    ['with script, by itself', true],
    ['without script, by its button', false],
  ])('11.6 the page of form_post sends the form %s, also after a sign-in', async (_name, hasScript) => {
    await withPage(hasScript, async (page) => {
      await signIn(page, { response_mode: 'form_post' })
      if (!hasScript) await page.click('#continue')
      await page.waitForURL('**/done')
      const [first] = received
      expect(first).toMatchObject({ method: 'POST', contentType: 'application/x-www-form-urlencoded', search: '' })
      expect(formOf(first as Received)).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/u), state, iss: issuer })

      await page.goto(`${issuer}/connect/authorize?${parameters({ response_mode: 'form_post', prompt: 'x' })}`)
      if (!hasScript) await page.click('#continue')
      await page.waitForURL('**/done')
      expect(formOf(received[1] as Received)).toMatchObject({ error: 'invalid_request', state, iss: issuer })
    })
  })

  test('11.1 a form of another site reaches the session of the user', async () => {
    await withPage(false, async (page) => {
      await signIn(page)
      await page.waitForURL('**/done')
      await page.goto(`${origin}/start?${parameters({ prompt: 'none', state: 'second' })}`)
      await page.click('#go')
      await page.waitForURL('**/done')
      const last = received.at(-1)
      expect(last?.method).toBe('GET')
      expect(new URLSearchParams(last?.search).get('state')).toBe('second')
      expect(new URLSearchParams(last?.search).has('code')).toBe(true)
    })
  })

  test('11.1 a form of another site that is too long for a URL reaches the session of the user', async () => {
    await withPage(true, async (page) => {
      await signIn(page)
      await page.waitForURL('**/done')
      await page.goto(`${origin}/start?${parameters({ prompt: 'none', state: 'third', extra: 'x'.repeat(5000) })}`)
      await page.click('#go')
      await page.waitForURL('**/done')
      const last = new URLSearchParams(received.at(-1)?.search)
      expect([last.get('state'), last.has('code')]).toEqual(['third', true])
    })
  })
})
