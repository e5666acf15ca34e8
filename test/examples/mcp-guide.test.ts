import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeBlocks } from '../docs/code-blocks.ts'
import { startCommand } from '../server/running-command.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { describeWith } from '../support/describe-with.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { examplesPath, missingForExamples } from './example-folders.ts'
import { runMcpClient } from './mcp-client.ts'
import { startExample } from './running-example.ts'

// Does what the guide says, on other ports: the configuration, the server, and the client of the example.

const blocks = codeBlocks('docs/guides/mcp.md')
const blockOf = (language: string): string => blocks.find((block) => block.language === language)?.code ?? ''

describeWithChromium('the guide to MCP servers', () => {
  let browser: Browser
  let directory = ''
  beforeAll(async () => {
    browser = await startChromium()
    // Here, so that imports of packages work. Ignored by git.
    mkdirSync(`${examplesPath}/dist`, { recursive: true })
    directory = mkdtempSync(`${examplesPath}/dist/guide-`)
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const defineTest = (): void =>
    test('makes a client sign a user in and call both tools', async () => {
      const [issuerPort, serverPort] = [await reservedPort(), await reservedPort()]
      const adapt = (text: string) => text.replaceAll('8484', `${issuerPort}`).replaceAll('3000', `${serverPort}`)
      writeFileSync(join(directory, 'grantry.config.json'), adapt(blockOf('jsonc')))
      writeFileSync(join(directory, 'server.ts'), adapt(blockOf('typescript')))
      const issuer = await startCommand(['--config', 'grantry.config.json', '--port', `${issuerPort}`], directory)
      const server = await startExample(`exec node --import tsx ${directory}/server.ts`, { port: serverPort })
      const context = await browser.newContext()
      try {
        await server.ready
        const client = 'node --import tsx mcp-server/client.ts'
        const { printed, asked } = await runMcpClient(client, { PORT: `${serverPort}` }, await context.newPage())
        const shown = blocks.find(({ language, code }) => language === 'console' && code.includes(client))?.code ?? ''
        expect(printed).toEqual(shown.split('\n').filter((line) => line.startsWith('[')))
        expect(asked).toEqual([
          expect.stringContaining('See your orders'),
          expect.stringContaining('Cancel your orders'),
        ])
      } finally {
        await context.close()
        await server.stop()
        await issuer.stop()
      }
    })
  describeWith(missingForExamples(), 'as it is written', defineTest, describe)
})
