// What a screen reader reads on every page in every state, without a server.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mails, views } from '../pages/views.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { pageSets, transcriptOf } from './pages-parties.ts'

let browser: Browser

/** What a screen reader announces, and what is needed for it. */
interface Structure {
  readonly headings: readonly number[]
  readonly unnamed: readonly string[]
  readonly fields: number
  /** The alerts that no field or group names as its description. */
  readonly loose: readonly string[]
}

const structureIn = (): Structure => {
  const all = <E extends Element>(selector: string): readonly E[] => [...document.querySelectorAll<E>(selector)]
  const seen = all<HTMLElement>('a[href],button,summary').filter((control) => control.checkVisibility())
  const fields = all<HTMLInputElement>('input:not([type=hidden])').filter((field) => field.checkVisibility())
  const named = (control: HTMLElement) =>
    (control.getAttribute('aria-label') ?? control.textContent ?? '').trim() !== ''
  const described = all('[aria-describedby]').flatMap((element) =>
    (element.getAttribute('aria-describedby') ?? '').split(' '),
  )
  return {
    headings: all('h1,h2,h3').map(({ tagName }) => Number(tagName.slice(1))),
    unnamed: [
      ...seen.filter((control) => !named(control)).map((control) => control.outerHTML),
      ...fields.filter((field) => (field.labels?.length ?? 0) === 0 && !field.readOnly).map((field) => field.outerHTML),
    ],
    fields: fields.length,
    // Where each field has a problem of its own, the alert is their summary.
    loose: all(document.querySelector('[aria-invalid=true][aria-describedby]') ? 'x' : '[role=alert]:not([hidden])')
      .map(({ id }) => id)
      .filter((id) => !described.includes(id)),
  }
}

describeWithChromium('the pages for a screen reader', () => {
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  test('every state has one title, no skipped level, names, and a problem that its field names', async () => {
    const page = await browser.newPage()
    const wrong: string[] = []
    for (const [name, view] of Object.entries({ ...views, ...mails })) {
      await page.setContent(view(pageSets, 'en').html, { waitUntil: 'commit' })
      const { headings, unnamed, fields, loose } = await page.evaluate(structureIn)
      if (headings[0] !== 1 || headings.filter((level) => level === 1).length !== 1) wrong.push(`${name}: title`)
      if (headings.some((level, at) => level > (headings[at - 1] ?? 1) + 1)) wrong.push(`${name}: levels`)
      wrong.push(...unnamed.map((control) => `${name}: no name: ${control}`))
      // A problem of a whole page, such as an expired form, belongs to no field.
      if (fields > 0 && loose.length > 0) wrong.push(`${name}: ${loose.join(' ')} describes nothing`)
    }
    expect(wrong).toEqual([])
    await page.close()
  })

  test.each([
    [
      'account-overview',
      [
        'heading Your account',
        'StaticText Signed in as alice@example.com',
        'heading Passkeys',
        'link Rename: Laptop',
        'link Remove: Laptop',
        'heading Second factors',
        'link Create new codes',
        'heading Linked accounts',
        'link Remove: Google, alice@gmail.example',
        'link Link an account at GitHub',
        'heading Where you are signed in',
        'StaticText This device',
        'link Sign out: Safari on iOS',
        'heading Applications with access',
        'link Remove access: Example Shop',
      ],
    ],
    [
      'self-service-ask-address-address-malformed',
      [
        'heading Forgot your password?',
        'StaticText Enter an email address, such as name@example.com.',
        'textbox Email address required (Enter an email address, such as name@example.com.)',
        'button Send email',
        'link Back to sign-in',
      ],
    ],
    [
      'self-service-mail-proved-name-taken',
      [
        'heading Create an account',
        'StaticText This user name is taken. Choose another one.',
        'button Show password pressed false',
        'button Create account',
      ],
    ],
    [
      'account-set-up-app-wrong-code',
      [
        'heading Authenticator app',
        'StaticText The code is wrong, or was already used. Enter the newest code.',
        'StaticText Or enter this key in the app:',
        'textbox Code of the app required (The code is wrong, or was already used. Enter the newest code.)',
        'button Confirm',
        'link Cancel',
      ],
    ],
    ['account-confirm-withdraw', ['StaticText Signed in as alice@example.com', 'link Cancel']],
    [
      'consent-choice',
      [
        'heading Example Shop requests access',
        'DisclosureTriangle This service has not checked the application.',
        'button Allow',
        'button Deny',
      ],
    ],
  ])('a screen reader reads %s', async (name, expected) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.setContent(views[name]?.(pageSets, 'en').html ?? '')
    const transcript = await transcriptOf(context, page)
    const read = transcript.filter((line) => expected.some((expectedLine) => expectedLine === line))
    expect({ read, transcript }).toEqual({ read: expected, transcript })
    await context.close()
  })
})
