// Every page in every state, in a browser.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mails, views } from '../pages/views.ts'
import { violationsInEach } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { always, findCutWords, inEachDocument } from '../support/fonts.ts'
import { openPage, openState, pageSets, tabThrough, transcriptOf } from './pages-parties.ts'

/** The page of the account with one text more. */
const isNotice = (name: string): boolean => /^account-overview-(?!new$)/u.test(name)
const locales = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']

let browser: Browser

describeWithChromium('the pages in a browser', () => {
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  test.each(['light', 'dark'] as const)('axe finds nothing in any state: %s', async (colorScheme) => {
    const context = await browser.newContext({ colorScheme, viewport: { width: 390, height: 800 } })
    const page = await context.newPage()
    // The states that differ from others in one text have the same colours in the dark.
    const states = Object.entries({ ...views, ...mails }).filter(([name]) => colorScheme === 'light' || !isNotice(name))
    const locale = colorScheme === 'dark' ? 'ar' : 'en'
    const violations = await violationsInEach(
      page,
      Object.fromEntries(states.map(([name, view]) => [name, view(pageSets, locale).html])),
    )
    expect(violations).toEqual(Object.fromEntries(states.map(([name]) => [name, []])))
    await context.close()
  })

  test.each(locales)('nothing overflows, and no label is cut in two, at 320 pixels: %s', async (locale) => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 } })
    const page = await context.newPage()
    const documents = Object.entries({ ...views, ...mails }).map(([name, view]) => [name, view(pageSets, locale).html])
    const measures = {
      cut: findCutWords,
      outside: () => {
        const all = [...document.querySelectorAll('body *:not(.unseen)')]
        const drawn = all.map((element) => element.getBoundingClientRect()).filter(({ width }) => width > 0)
        return drawn.filter(({ left, right }) => left < 0 || right > 320).length
      },
    }
    const labels = 'h1, h2, label, button, a, legend'
    const faults = await inEachDocument(page, Object.fromEntries(documents), measures, labels)
    expect(Object.keys(faults)).toEqual(Object.keys({ ...views, ...mails }))
    const fine = JSON.stringify(always({ cut: [], outside: 0 }))
    const wide = Object.entries(faults).filter(([, each]) => JSON.stringify(each) !== fine)
    expect(wide).toEqual([])
    await context.close()
  })

  test('every control of every state is reached by Tab, in the order of the page, and seen', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const { page, show, problems } = await openPage(context)
    for (const name of Object.keys(views).filter((view) => !isNotice(view))) {
      await show(name)
      const { controls, focused } = await tabThrough(page)
      const expected = Array.from({ length: controls }, (_, at) => [String(at), 'solid'])
      expect({ name, focused, problems }).toEqual({ name, focused: expected, problems: [] })
    }
    await context.close()
  })

  test.each([true, false])(
    'users sign in and consent with the keyboard only; script: %s',
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled })
      const signIn = await openState(context, 'sign-in')
      // The browser gives it the focus after the page has loaded.
      await signIn.page.locator('#username:focus').waitFor()
      await signIn.page.keyboard.type('alice')
      await signIn.page.keyboard.press('Tab')
      await signIn.page.keyboard.type('secret')
      await signIn.page.keyboard.press('Enter')
      await expect.poll(() => signIn.sent.length).toBe(1)
      expect(Object.fromEntries(signIn.sent[0] ?? [])).toMatchObject({ username: 'alice', password: 'secret' })
      expect(signIn.sent[0]?.has('decision')).toBe(false)
      const consent = await openState(context, 'consent')
      await consent.page.keyboard.press('Tab')
      await consent.page.keyboard.press('Tab')
      await consent.page.keyboard.press('Enter')
      await expect.poll(() => consent.sent.length).toBe(1)
      expect(consent.sent[0]?.get('decision')).toBe('allow')
      expect([...signIn.problems, ...consent.problems]).toEqual([])
      await context.close()
    },
  )

  test.each([
    [
      'sign-in-passkey',
      [
        'heading Sign in',
        'StaticText to continue to Example Shop',
        'textbox User name required',
        'textbox Password required',
        'button Show password pressed false',
        'checkbox Stay signed in on this device checked true',
        'button Sign in',
        'button Sign in with a passkey',
        'button Cancel',
        'link Privacy policy of Example Shop',
        'link Terms of Example Shop',
      ],
    ],
    [
      'consent-choice',
      [
        'heading Example Shop requests access',
        'StaticText Signed in as alice@example.com',
        'button Use another account',
        'StaticText The access is for files.example.com/mcp.',
        'group This application would like to:',
        'StaticText Choose what you allow.',
        'StaticText Know who you are',
        'StaticText Required',
        'checkbox Use read on your behalf checked true',
        'checkbox Use files:write on your behalf checked false',
        'checkbox Keep this access while you are away checked false',
        'button Allow',
        'button Deny',
      ],
    ],
    [
      'second-factor-wrong-code',
      [
        'heading Confirm that it is you',
        'StaticText to continue to Example Shop',
        'StaticText Enter the code of your authenticator app, or a recovery code.',
        'StaticText The code is wrong, or was already used. Enter the newest code.',
        'textbox Code required (The code is wrong, or was already used. Enter the newest code.)',
        'button Continue',
        'button Cancel',
      ],
    ],
    [
      'error-expired',
      [
        'heading Something went wrong',
        'StaticText This request has expired, or was already completed.',
        'StaticText Return to the application and try again. If that does not help, contact its support.',
        'link Start again',
        'link Return to Example Shop',
        'StaticText Reference for support',
      ],
    ],
  ])('a screen reader reads %s', async (name, expected) => {
    const context = await browser.newContext()
    const { page } = await openState(context, name)
    const transcript = await transcriptOf(context, page)
    const read = transcript.filter((line) => expected.some((expectedLine) => expectedLine === line))
    expect({ read, transcript }).toEqual({ read: expected, transcript })
    await context.close()
  })

  test('a password is shown while the button is pressed, and concealed when it is sent', async () => {
    const context = await browser.newContext()
    const { page, sent, problems } = await openState(context, 'sign-in')
    const show = page.getByRole('button', { name: 'Show password' })
    await page.locator('#username').fill('alice')
    await page.locator('#password').fill('secret')
    await show.click()
    expect([await page.locator('#password').getAttribute('type'), await show.getAttribute('aria-pressed')]).toEqual([
      'text',
      'true',
    ])
    expect(sent).toEqual([])
    await page.locator('#sign-in').click()
    expect(await page.locator('#password').getAttribute('type')).toBe('password')
    await expect.poll(() => sent.length).toBe(1)
    expect(problems).toEqual([])
    await context.close()
  })

  test('a form that is being sent is not sent a second time', async () => {
    const context = await browser.newContext()
    const { page, sent } = await openState(context, 'consent')
    await page.locator('#allow').click()
    expect(await page.locator('form').getAttribute('aria-busy')).toBe('true')
    await page.locator('#deny').click()
    await page.locator('#allow').click()
    await expect.poll(() => sent.length).toBe(1)
    expect(sent[0]?.get('decision')).toBe('allow')
    await context.close()
  })

  test('the hint for Caps Lock appears while it is on, in a region that is read', async () => {
    const context = await browser.newContext()
    const { page } = await openState(context, 'sign-in', 'de')
    const press = (isOn: boolean) =>
      page
        .locator('#password')
        .evaluate((field, on) => field.dispatchEvent(new KeyboardEvent('keydown', { modifierCapsLock: on })), isOn)
    const hint = page.getByRole('status')
    expect(await hint.textContent()).toBe('')
    await press(true)
    expect(await hint.textContent()).toBe('Die Feststelltaste ist aktiviert.')
    await press(false)
    expect(await hint.textContent()).toBe('')
    await context.close()
  })

  test('without script, no button needs one', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const { page } = await openState(context, 'sign-in-ways')
    for (const id of ['.reveal', '#passkey']) expect(await page.locator(id).isVisible()).toBe(false)
    expect(await page.getByRole('link', { name: 'Continue with Google' }).isVisible()).toBe(true)
    await context.close()
  })
})
