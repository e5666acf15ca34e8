import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleStarts, missingForExamples, missingRuntime } from '../examples/example-folders.ts'
import { startExample } from '../examples/running-example.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { sharedDirectory } from '../support/directory.ts'
import { type DocumentHost, startDocumentHost } from '../support/document-host.ts'
import { allowAsAlice } from '../support/ready-pages.ts'
import { createClient, missing, redirectUrl } from './mcp-setting.ts'

// Clients of the official SDKs know only the URL of the MCP server of the example, on each runtime. The user has a real
// browser and the ready pages.

const listed = 'Orders of alice: 1, 2'
const canceled = 'Order 2 is canceled'

/** Ends the session of the browser at the issuer, as its user does. */
async function signOut(context: BrowserContext, issuer: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${issuer}/connect/endsession`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('signed out').first().waitFor()
  await page.close()
}

describeWithChromium('a client of an MCP server that knows only its URL', () => {
  let browser: Browser
  let documents: DocumentHost
  beforeAll(async () => {
    browser = await startChromium()
    const grants = ['authorization_code', 'refresh_token']
    const document = { client_name: 'Order assistant', redirect_uris: [redirectUrl], grant_types: grants }
    documents = await startDocumentHost(sharedDirectory('mcp-sign-in'), document)
  })
  afterAll(async () => {
    await browser?.close()
    documents?.close()
  })

  async function use(issuer: string, generation: string, metadataUrl: string | undefined): Promise<void> {
    const context = await browser.newContext()
    // The client is nowhere: the browser only asks for it.
    const open = async ({ href }: URL): Promise<URL> => {
      const page = await context.newPage()
      const { url } = await allowAsAlice(page, href)
      await page.close()
      return new URL(url)
    }
    const { memory, asked, call } = await createClient(generation, `${issuer}/mcp`, {
      metadataUrl,
      registers: metadataUrl === undefined,
      refreshes: true,
      open,
    })

    expect(await call('list_orders')).toBe(listed)
    // SDK 1 refreshes the token instead of asking for another scope.
    const [tool, expected, sent] =
      generation === 'SDK 1' ? ['list_orders', listed, {}] : ['cancel_order', canceled, { order: 2 }]
    expect(await call(tool, sent)).toBe(expected)
    const scopes = asked.map((url) => new URL(url).searchParams.get('scope')?.includes('orders:cancel'))
    expect(scopes).toEqual(generation === 'SDK 1' ? [false] : [false, true])

    // Its access token has expired.
    const { refresh_token: first } = memory.tokens ?? {}
    memory.tokens = { ...memory.tokens, access_token: 'expired' }
    expect(await call(tool, sent)).toBe(expected)
    expect(first).toEqual(expect.any(String))
    expect(memory.tokens.refresh_token).not.toBe(first)
    expect(asked).toHaveLength(scopes.length)

    // It gives its access up, and its user signs out.
    const form = { client_id: memory.information?.client_id ?? '', token: memory.tokens.refresh_token ?? '' }
    await fetch(`${issuer}/connect/revocation`, { method: 'POST', body: new URLSearchParams(form) })
    memory.tokens = { ...memory.tokens, access_token: 'expired' }
    expect(await call('list_orders')).toBe(listed)
    expect(asked).toHaveLength(scopes.length + 1)
    await signOut(context, issuer)
    // It asks for the password again.
    const page = await context.newPage()
    await page.goto(asked[0] ?? '')
    await page.locator('#password').waitFor()
    await context.close()
  }

  for (const { folder, title, commands } of exampleStarts) {
    if (folder !== 'mcp-server') continue
    const defineTests = (): void => {
      test('signs users in, calls tools, asks for another scope, refreshes, and signs out', async () => {
        const example = await startExample(commands, { environment: documents.environment })
        try {
          await example.ready
          await use(example.base, 'SDK 2', documents.metadataUrl)
          await use(example.base, 'SDK 2', undefined)
          await use(example.base, 'SDK 1', undefined)
        } finally {
          await example.stop()
        }
      })
    }
    describeWith(missing ?? missingForExamples() ?? missingRuntime(commands), title, defineTests, describe)
  }
})
