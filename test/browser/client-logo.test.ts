import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, inEachFont } from '../support/fonts.ts'

const square = (width: number, height: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><circle cx="50%" cy="50%" r="50%" fill="red"/></svg>`

describeWithChromium('the logo of a client, in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser.close())

  test.each([
    ['cannot be found', { status: 404, body: 'not found' }, 'initial'],
    ['is no image', { status: 200, contentType: 'image/png', body: 'not an image' }, 'initial'],
    ['is blocked', undefined, 'initial'],
    ['is wide', { status: 200, contentType: 'image/svg+xml', body: square(200, 20) }, 'logo'],
    ['is narrow', { status: 200, contentType: 'image/svg+xml', body: square(20, 200) }, 'logo'],
    ['is small and transparent', { status: 200, contentType: 'image/svg+xml', body: square(16, 16) }, 'logo'],
  ])('that %s', async (name, response, shown) => {
    const client = { clientId: 'shop', name: 'Example Shop', logoUri: 'https://shop.example.com/logo.png' }
    const scopes = ['openid', 'orders'].map((scope) => ({ name: scope }))
    const view = {
      action: '/',
      fields: {},
      formTargets: [],
      client,
      subjectName: 'alice',
      scopes,
      resources: [],
      claims: [],
    }
    const { html, sources } = createPages({ languages, scopes: { orders: 'See your orders' } }).consent(view, 'de')
    const policy = `default-src 'none'; style-src ${sources.style?.join(' ')}; img-src ${sources.image?.join(' ')}`
    for (const width of [390, 1280]) {
      const page = await browser.newPage({ viewport: { width, height: 800 } })
      await page.route('https://id.example.com/', (route) =>
        route.fulfill({ contentType: 'text/html', body: html, headers: { 'content-security-policy': policy } }),
      )
      await page.route(client.logoUri, (route) => (response === undefined ? route.abort() : route.fulfill(response)))
      await page.goto('https://id.example.com/')
      const logos = await inEachFont(page, () => {
        const {
          left,
          top,
          width: across,
          height,
        } = document.querySelector('.logo')?.getBoundingClientRect() ?? new DOMRect()
        const seen = document.elementFromPoint(left + across / 2, top + height / 2)
        return { seen: seen?.tagName === 'IMG' ? 'logo' : 'initial', text: seen?.textContent, across, height }
      })
      const text = shown === 'initial' ? 'E' : ''
      expect(logos).toEqual(always({ seen: shown, text, across: 48, height: 48 }))
      expect(await violationsIn(page)).toEqual([])
      const directory = process.env.CONSOLE_SCREENSHOTS
      if (directory !== undefined) await page.screenshot({ path: `${directory}/logo ${name} ${width}.png` })
      await page.close()
    }
  })
})
