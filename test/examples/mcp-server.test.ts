import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { sharedDirectory } from '../support/directory.ts'
import { type DocumentHost, startDocumentHost } from '../support/document-host.ts'
import { exampleStarts, missingForExamples, missingRuntime } from './example-folders.ts'
import { runMcpClient } from './mcp-client.ts'
import { startExample } from './running-example.ts'

// The client of the example signs a user in in a browser. It has a metadata document, which the provider fetches.

describeWithChromium('the client of the MCP server', () => {
  let browser: Browser
  let documents: DocumentHost
  beforeAll(async () => {
    browser = await startChromium()
    documents = await startDocumentHost(sharedDirectory('mcp-server'), {
      client_name: 'Order assistant',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    })
  })
  afterAll(async () => {
    await browser?.close()
    documents?.close()
  })

  for (const { folder, title, commands } of exampleStarts) {
    if (folder !== 'mcp-server') continue
    const defineTest = (): void => {
      test('signs a user in by its metadata document, and asks for another scope', async () => {
        const example = await startExample(commands, { environment: documents.environment })
        const context = await browser.newContext()
        try {
          await example.ready
          const page = await context.newPage()
          const environment = { PORT: new URL(example.base).port, CLIENT_METADATA_URL: documents.metadataUrl }
          // On the same runtime.
          const client = commands.replace(/\w+\.ts$/mu, 'client.ts')
          const { printed, asked } = await runMcpClient(client, environment, page)
          expect(printed).toEqual([
            '[{"type":"text","text":"Orders of alice: 1, 2"}]',
            '[{"type":"text","text":"Order 2 is canceled"}]',
          ])
          expect(asked).toEqual([
            expect.stringContaining('See your orders'),
            expect.stringContaining('Cancel your orders'),
          ])
          expect(asked[0]).not.toContain('Cancel your orders')
        } finally {
          await context.close()
          await example.stop()
        }
      })
    }
    describeWith(missingForExamples() ?? missingRuntime(commands), title, defineTest, describe)
  }
})
