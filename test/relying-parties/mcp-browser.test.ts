import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { missing, withServer } from './mcp-setting.ts'

// A client in a page of another origin, such as the MCP Inspector: it reads the challenge and the document.

/** Runs in the page. */
async function discover(resource: string) {
  const response = await fetch(resource, {
    method: 'POST',
    headers: {
      authorization: 'Bearer abc',
      'content-type': 'application/json',
      'last-event-id': '1',
      'mcp-param-region': 'eu',
      'mcp-protocol-version': '2026-07-28',
      'mcp-session-id': '1',
      dpop: 'a.b.c',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: '{}',
  })
  const challenge = response.headers.get('www-authenticate') ?? ''
  const url = /resource_metadata="(.+?)"/u.exec(challenge)?.[1] ?? ''
  const document = await fetch(url, { headers: { 'mcp-protocol-version': '2026-07-28' } })
  const root = await fetch(new URL('/.well-known/oauth-protected-resource', url))
  return { status: response.status, challenge, document: await document.json(), root: root.status }
}

describeWithChromium('an MCP server that a page of another origin calls', () => {
  let browser: Browser
  let pages: Server
  beforeAll(async () => {
    browser = await startChromium()
    pages = createServer((_req, res) => res.setHeader('content-type', 'text/html').end('<!doctype html>'))
    await new Promise<void>((resolve) => {
      pages.listen(0, '127.0.0.1', resolve)
    })
  })
  afterAll(async () => {
    await browser?.close()
    pages.close()
  })

  const defineTests = (): void => {
    test.each(['Express', 'Fastify', 'Hono', 'Fetch'])('in %s', (framework) =>
      withServer(
        framework,
        () => ({}),
        async ({ resource }) => {
          const page = await browser.newPage()
          await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`)
          expect(await page.evaluate(discover, resource)).toMatchObject({
            status: 401,
            challenge: expect.stringContaining('error="invalid_token"'),
            document: { resource, scopes_supported: ['mcp:tools'] },
            root: 404,
          })
          await page.close()
        },
      ),
    )
  }
  describeWith(missing, 'can be discovered', defineTests, describe)
})
