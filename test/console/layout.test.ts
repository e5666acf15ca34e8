import { expect, test } from 'vitest'
import { describeWithChromium } from '../support/chromium.ts'
import { always, inEachFont } from '../support/fonts.ts'
import { demoInBrowser, openConsole } from './open-console.ts'

// What a user sees without scrolling. test/console/appearance.test.ts checks that nothing overlaps.

describeWithChromium('the console on a screen of 1280 x 800', () => {
  const started = demoInBrowser()

  async function open() {
    const opened = await openConsole(started.page, started.demo.url, { width: 1280 })
    await opened.page.setViewportSize({ width: 1280, height: 800 })
    return opened
  }

  test('shows the request, its button, the response and the live events', async () => {
    const { page, press } = await open()
    const expectInView = async (...selectors: readonly string[]): Promise<void> => {
      const hidden = await inEachFont(
        page,
        (all) =>
          all.filter((selector) => {
            const bottom = document.querySelector(selector)?.getBoundingClientRect().bottom ?? 0
            return bottom <= 0 || bottom > 800
          }),
        selectors,
      )
      expect(hidden).toEqual(always([]))
      expect(await inEachFont(page, () => document.documentElement.scrollHeight)).toEqual(always(800))
    }
    await expectInView('#client', '#grant', '#request button.primary', '#response-title', '#families-title')
    await press('Request a token', /200: success/u)
    await page.locator('#timeline details').first().waitFor()
    await expectInView('#request button.primary', '#outcome', '#tokens-title', '#next-title', '#timeline summary')
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('another client has no response yet', async () => {
    const { page, press, choose, outcome } = await open()
    await press('Request a token', /200: success/u)
    await choose('Client', 'demo-jwt')
    expect(await outcome()).toBe('No request of this client sent yet.')
    expect(await page.locator('#exchange').innerText()).toBe('')
  })
})
