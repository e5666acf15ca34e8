import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DpopServer, startDpopServer } from '../dpop/server.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'

describeWithChromium('DPoP in a page of another origin', () => {
  let server: DpopServer
  let browser: Browser
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startDpopServer(true), startChromium()])
  })
  afterAll(() => Promise.all([server?.close(), browser?.close()]))

  test('openid-client may send the proof and can read the nonce', async () => {
    const program = await bundle(new URL('./programs/dpop-page.ts', import.meta.url), {
      platform: 'browser',
      format: 'iife',
      globalName: 'client',
      banner: {},
    })
    const page = await browser.newPage()
    await page.goto(server.page)
    await page.addScriptTag({ content: await readFile(program, 'utf8') })
    const responses: string[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/connect/')) responses.push(`${response.request().method()} ${response.status()}`)
    })
    const [type, sub, next] = (await page.evaluate(`client.signIn(${JSON.stringify(server.issuer)})`)) as string[]
    expect([type, sub, next]).toEqual(['dpop', '1', 'dpop'])
    expect(responses.filter((line) => !line.startsWith('OPTIONS'))).toEqual([
      'POST 400',
      'POST 200',
      'GET 200',
      'POST 200',
    ])
  })
})
