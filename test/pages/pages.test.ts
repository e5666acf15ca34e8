import { createHash } from 'node:crypto'
import { createPages, html, type PagesOptions } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { createPageSets } from '@grantry/pages/preview'
import { describe, expect, test } from 'vitest'
import { views } from './views.ts'

const locales = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']
const names = Object.keys(views)
const render = (name: string, locale = 'en', options: PagesOptions = {}) => {
  const view = views[name]
  if (view === undefined) throw new Error(`There is no view ${name}`)
  return view(createPageSets(options), locale)
}
const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe.each(names)('the page %s', (name) => {
  test('has one style and at most one script, each with its hash', () => {
    const { html: text, sources } = render(name)
    const styles = [...text.matchAll(/<style>([^<]*)<\/style>/gu)].map(([, style = '']) => sha256(style))
    const scripts = [...text.matchAll(/<script>([^<]*)<\/script>/gu)].map(([, script = '']) => sha256(script))
    expect(styles).toEqual(sources.style)
    expect(scripts.length).toBeLessThanOrEqual(1)
    expect(scripts).toEqual(sources.script ?? [])
    expect(text).not.toMatch(/<[^>]*\s(?:on\w+|style)=|javascript:|@import|url\(/u)
  })

  test('declares its language, and leaves no name in braces', () => {
    for (const locale of locales) {
      const { html: text } = render(name, locale)
      expect(text).toContain(`<html lang="${locale}"`)
      expect(text.replace(/<style>.*<\/style>/u, '')).not.toMatch(/\{\w+\}/u)
    }
  })

  test('has one heading, and a label for each field', () => {
    const { html: text } = render(name)
    expect(text.match(/<h1/gu)).toHaveLength(1)
    const visible = [...text.matchAll(/<input id="([\w-]+)"/gu)].map(([, id]) => id)
    for (const id of visible) expect(text).toContain(`<label for="${id}">`)
    const ids = [...text.matchAll(/\sid="([^"]+)"/gu)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('hostile values', () => {
  const evil = `"><script>alert(1)</script><img src=x onerror='alert(1)'>&lt;`
  const client = { clientId: evil, name: evil, uri: evil, logoUri: evil, policyUri: evil, tosUri: evil }
  const form = { action: `https://a.example/${evil}`, fields: { [evil]: evil }, formTargets: [] }
  const pages = createPages()
  const element = /<(?:script>alert|img src=x)/u

  test.each([
    ['secondFactor', () => pages.secondFactor({ ...form, client, subjectName: evil }, evil)],
    [
      'signIn',
      () => pages.signIn({ ...form, client, username: evil, canCancel: true, ways: [], asksForPassword: true }, evil),
    ],
    [
      'consent',
      () =>
        pages.consent(
          {
            ...form,
            client,
            subjectName: evil,
            scopes: [{ name: evil, choice: { field: evil, isTicked: true } }, { name: `${evil}2` }],
            resources: [evil, `${evil}2`].map((audience) => ({ audience, scopes: [evil] })),
            claims: [evil],
            described: { host: evil, homePage: evil, returnsTo: evil, isKnown: false },
          },
          'en',
        ),
    ],
    ['chooseAccount', () => pages.chooseAccount({ ...form, client, accounts: [{ id: evil, name: evil }] }, 'en')],
    [
      'deviceCode',
      () =>
        pages.deviceCode(
          {
            step: 'confirm',
            userCode: evil,
            client,
            scopes: [evil],
            choosable: [],
            leftOut: [],
            resources: [],
            formToken: evil,
          },
          'en',
        ),
    ],
    ['error', () => pages.error({ code: evil, reason: evil }, 'en')],
    ['confirmLogout', () => pages.confirmLogout({ ...form, subjectName: evil }, 'en')],
    ['signedOut', () => pages.signedOut({ clientName: evil, returnTo: evil }, 'en')],
    ['stillSignedIn', () => pages.stillSignedIn({ clientName: evil, returnTo: evil }, 'en')],
    ['formPost', () => pages.formPost(form, 'en')],
  ])('%s escapes every value', (_name, page) => {
    expect(page().html).not.toMatch(element)
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'http://shop.example.com/'])('%s is no link', (uri) => {
    const view = {
      ...form,
      action: 'https://id.example.com/',
      fields: {},
      canCancel: true,
      ways: [],
      asksForPassword: true,
    }
    const { html: text } = pages.signIn({ ...view, client: { clientId: 'a', logoUri: uri, tosUri: uri } }, 'en')
    expect(text).not.toContain(uri)
    expect(pages.signedOut({ returnTo: 'javascript:alert(1)' }, 'en').html).not.toContain('javascript:')
  })
})

describe('languages', () => {
  const { localeOf } = createPages({ languages })
  test.each([
    [undefined, null, 'en'],
    ['de', null, 'de'],
    ['sv fr-CA', 'de', 'fr'],
    ['pt-BR', 'de', 'pt'],
    [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
    [undefined, 'en;q=0.1, ja;q=0.9', 'ja'],
    [undefined, 'fr;q=0, es', 'es'],
    [undefined, 'zh-Hans-CN', 'zh'],
    ['__proto__ constructor', 'xx', 'en'],
    [undefined, `${'x,'.repeat(10_000)}de`, 'en'],
  ])('ui_locales=%s and Accept-Language: %s are %s', (uiLocales, header, expected) => {
    expect(localeOf(uiLocales, header)).toBe(expected)
  })

  test('are written in their direction, also if an operator adds one', () => {
    const view = {
      action: '/',
      fields: {},
      formTargets: [],
      client: { clientId: 'a' },
      canCancel: false,
      ways: [],
      asksForPassword: true,
    }
    const pages = createPages({ name: 'Example', languages, messages: { 'he-IL': { signInTitle: 'כניסה' } } })
    for (const [locale, direction] of [
      ...locales.map((locale) => [locale, locale === 'ar' ? 'rtl' : 'ltr']),
      ['he-IL', 'rtl'],
    ]) {
      expect(pages.signIn(view, locale ?? '').html).toContain(`<html lang="${locale}" dir="${direction}">`)
    }
  })

  test('can be restricted, replaced and added', () => {
    const pages = createPages({
      languages,
      locales: ['de', 'it'],
      messages: { de: { signIn: 'Los' }, it: { signInTitle: 'Accedi' } },
    })
    expect(pages.localeOf(undefined, 'fr')).toBe('de')
    const view = {
      action: '/',
      fields: {},
      formTargets: [],
      client: { clientId: 'a' },
      canCancel: false,
      ways: [],
      asksForPassword: true,
    }
    expect(pages.signIn(view, 'de').html).toContain('>Los</button>')
    expect(pages.signIn(view, 'it').html).toContain('<h1>Accedi</h1>')
    expect(() => createPages({ languages, messages: { de: { singIn: 'x' } as never } })).toThrow('unknown text singIn')
  })
})

describe('appearance', () => {
  test('shows the name, the logo and the links of the service', () => {
    const { html: text, sources } = render('sign-in', 'en', {
      name: 'Example & Co',
      logo: 'https://cdn.example.com/logo.svg',
      links: { privacy: 'https://example.com/privacy' },
      colors: { accent: '#ffdd00' },
      scopes: { orders: 'See your orders' },
    })
    expect(text).toContain('<span>Example &amp; Co</span>')
    expect(text).toContain('<a href="https://example.com/privacy">Privacy</a>')
    expect(sources.image).toEqual(['https://cdn.example.com', 'https://shop.example.com'])
    // Black is easier to read on yellow.
    expect(text).toContain('--accent:#ffdd00;--on-accent:#000')
    expect(render('consent', 'en', { scopes: { orders: 'See your orders' } }).html).toContain(
      '<li>See your orders</li>',
    )
  })

  test.each<[PagesOptions, string]>([
    [{ colors: { accent: 'red;}body{display:none' } }, 'colors.accent'],
    [{ logo: 'javascript:alert(1)' }, 'logo'],
    [{ links: { terms: 'http://example.com' } }, 'links.terms'],
    [{ locales: [] }, 'locales'],
  ])('refuses %o', (options, where) => {
    expect(() => createPages(options)).toThrow(where)
  })

  test('can replace a template', () => {
    const pages = createPages({
      templates: {
        signedOut: ({ clientName }, { text }) => ({
          title: text('signedOutTitle'),
          content: html`<h1>Bye ${clientName}</h1>`,
        }),
      },
    })
    expect(pages.signedOut({ clientName: '<b>' }, 'en').html).toContain('<h1>Bye &lt;b&gt;</h1>')
  })
})

test('does not say "1 seconds"', () => {
  const view = {
    action: '/',
    fields: {},
    formTargets: [],
    client: { clientId: 'a' },
    canCancel: false,
    ways: [],
    asksForPassword: true,
  }
  const pages = createPages()
  const htmlFor = (retryAfter: number) => pages.signIn({ ...view, problem: 'too_many_attempts', retryAfter }, 'en').html
  expect(htmlFor(1)).toContain('There were too many attempts. Try again later.')
  expect(htmlFor(2)).toContain('in 2 seconds')
})
