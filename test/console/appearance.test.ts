import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium } from '../support/chromium.ts'
import { always, inEachFont, widthsOf } from '../support/fonts.ts'
import { demoInBrowser, type OpenConsole, openConsole } from './open-console.ts'

// Layout and accessibility of the console, empty and after many requests. CONSOLE_SCREENSHOTS=directory saves screenshots.

const pictures = process.env.CONSOLE_SCREENSHOTS

/** Returns controls that overlap each other or exceed the window. Runs in the page. */
function overflowingElements(): readonly string[] {
  const controls = [...document.querySelectorAll('button, input, select, summary, h1, h2, h3, pre, dt, .hint')]
  /** The visible part of a control: what its scrolling ancestors do not hide. */
  const visible = (control: Element) => {
    const { left, right, top, bottom } = control.getBoundingClientRect()
    const box = { left, right, top, bottom }
    for (let each = control.parentElement; each !== null && each !== document.body; each = each.parentElement) {
      if (getComputedStyle(each).overflowY !== 'auto') continue
      const pane = each.getBoundingClientRect()
      box.top = Math.max(box.top, pane.top)
      box.bottom = Math.min(box.bottom, pane.bottom)
    }
    return { ...box, width: right - left, height: box.bottom - box.top }
  }
  const placed = controls
    .map((control) => ({ control, box: visible(control) }))
    .filter(({ control, box }) => box.width > 0 && box.height > 0 && control.checkVisibility())
  const name = (control: Element) => `${control.tagName} ${control.id || control.textContent?.trim().slice(0, 30)}`
  const outside = placed
    .filter(({ box }) => box.left < 0 || box.right > document.documentElement.clientWidth + 0.5)
    .map(({ control }) => `${name(control)} sticks out`)
  const overlapping = placed.flatMap((first, index) =>
    placed.slice(index + 1).flatMap((second) => {
      if (first.control.contains(second.control) || second.control.contains(first.control)) return []
      const width = Math.min(first.box.right, second.box.right) - Math.max(first.box.left, second.box.left)
      const height = Math.min(first.box.bottom, second.box.bottom) - Math.max(first.box.top, second.box.top)
      return width > 1 && height > 1 ? [`${name(first.control)} overlaps ${name(second.control)}`] : []
    }),
  )
  return [...outside, ...overlapping]
}

async function sendMany({ page, press, signIn, choose }: OpenConsole): Promise<void> {
  await page.getByLabel('Bind the tokens to a key (DPoP)').check()
  await choose('Client', 'demo-jwt')
  await choose('Grant type', 'authorization_code')
  await signIn()
  await press('Redeem the code', /200: success/u)
  await press('Use the token without its key', /401: refused as expected/u)
  await press('Refresh', /Refresh\. 200: success/u)
  await press('Replay refresh token', /family is revoked/u)
  await page.locator('#timeline').getByText('Family revoked').first().waitFor()
  await page.getByText('More fields').click()
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByText('DPoP proof of the request').click()
  await page.getByText('Headers (').click()
  const closed = page.locator('details.token:not([open]) > summary')
  while ((await closed.count()) > 0) await closed.first().click()
}

describeWithChromium('the console', () => {
  const started = demoInBrowser()

  // 320 px is also 1280 px at a zoom of 400 %. The requests are sent at the first width, the narrowest.
  const sizes = [
    [320, 'dark'],
    [390, 'light'],
    [800, 'light'],
    [1200, 'dark'],
    [1280, 'light'],
    [1600, 'light'],
  ] as const
  describe.each([
    ['before a request', async () => {}],
    ['after many requests', sendMany],
  ])('%s', (state, send) => {
    let console: OpenConsole
    beforeAll(async () => {
      const [[width]] = sizes
      console = await openConsole(started.page, started.demo.url, { width })
      await send(console)
    })
    afterAll(() => console.assertClean())

    test.each(sizes)(
      'at %d px, %s: no control overlaps or exceeds the window, and axe finds no violation',
      async (width, colorScheme) => {
        const { page } = console
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        if (pictures !== undefined)
          await page.screenshot({ path: join(pictures, `${width}-${colorScheme}-${state}.png`), fullPage: true })
        expect(await widthsOf(page)).toEqual(always(width))
        expect(await inEachFont(page, overflowingElements)).toEqual(always([]))
        expect(await violationsIn(page)).toEqual([])
      },
    )
  })

  test('a hovered button is readable', async () => {
    const { page, press } = await openConsole(started.page, started.demo.url)
    await press('Request a token', /200: success/u)
    for (const name of ['Request a token', 'Introspect', 'Copy the curl command']) {
      await page.getByRole('button', { name }).hover()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect([name, colorScheme, await violationsIn(page, ['color-contrast'])]).toEqual([name, colorScheme, []])
      }
    }
  })

  test('has no animations with prefers-reduced-motion', async () => {
    const console = await openConsole(started.page, started.demo.url)
    const moving = await console.page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter((part) => {
          const { transitionDuration, animationName } = getComputedStyle(part)
          return animationName !== 'none' || transitionDuration.split(', ').some((duration) => duration !== '0s')
        }).length,
    )
    expect(moving).toBe(0)
  })

  test('all controls have an accessible name, and the outcome is a status for screen readers', async () => {
    const console = await openConsole(started.page, started.demo.url)
    const tree = await console.page.locator('body').ariaSnapshot()
    expect(tree).toContain('status: No request sent yet.')
    for (const part of [
      'heading "Grantry console" [level=1]',
      'combobox "Client"',
      'group "Scopes"',
      'button "Introspect"',
    ])
      expect(tree).toContain(part)
    expect(tree).not.toMatch(/^\s*- (?:button|textbox|combobox|checkbox)\s*(?:\[|:|$)/mu)
  })

  test('the checks of this file detect an overlap, a control outside and a button without a name', async () => {
    const console = await openConsole(started.page, started.demo.url)
    await console.page.evaluate(() => {
      const button = document.createElement('button')
      Object.assign(button.style, { position: 'absolute', left: '-5px', top: '0', width: '400px', height: '300px' })
      document.body.append(button)
    })
    const misplaced = (await console.page.evaluate(overflowingElements)).join('\n')
    expect(misplaced).toContain('sticks out')
    expect(misplaced).toContain('overlaps')
    expect((await violationsIn(console.page)).join('\n')).toContain('button-name')
  })
})
