// Users read what a scope permits in the language of the page, or marked as another language.
import { createPages, missingTexts, type PagesOptions } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { expect, test } from 'vitest'

function itemsOf(names: readonly string[], locale: string, options: PagesOptions): readonly string[] {
  const scopes = names.map((name) => ({ name }))
  const form = { action: '/', fields: {}, formTargets: [] }
  const view = { ...form, client: { clientId: 'a' }, subjectName: 'alice', scopes, resources: [], claims: [] }
  const { html } = createPages({ languages, ...options }).consent(view, locale)
  return [...html.matchAll(/<li>(.*?)<\/li>/gu)].map(([, item = '']) => item)
}

test.each([
  ['de', { en: 'See your address' }, 'Ihre E-Mail-Adresse sehen'],
  ['ja', { en: 'See your address' }, 'メールアドレスの表示'],
  ['de', 'See your address', 'Ihre E-Mail-Adresse sehen'],
  ['en', 'See your address', 'See your address'],
  ['de', { de: 'Adresse sehen' }, 'Adresse sehen'],
] as const)('in %s, the scope email that is described as %j is "%s"', (locale, email, expected) => {
  expect(itemsOf(['email'], locale, { scopes: { email } })).toEqual([expected])
})

test.each<[string, PagesOptions, string]>([
  ['de', { scopes: { orders: { en: 'See "orders"' } } }, '<span lang="en">See &quot;orders&quot;</span>'],
  ['ja', { scopes: { orders: 'See your orders' } }, '<span lang="en">See your orders</span>'],
  ['en', { scopes: { orders: 'See your orders' } }, 'See your orders'],
  ['de', { scopes: { orders: { fr: 'Voir', ja: 'Miru' } } }, '<span lang="fr">Voir</span>'],
  ['fr', { locales: ['de', 'fr'], scopes: { orders: 'Sehen' } }, '<span lang="de">Sehen</span>'],
  ['fr', { locales: ['de', 'fr'], scopes: { orders: { en: 'See', de: 'Sehen' } } }, '<span lang="de">Sehen</span>'],
  ['de-AT', { locales: ['de-AT'], scopes: { orders: { en: 'See', DE: 'Sehen' } } }, 'Sehen'],
  ['de', { scopes: { orders: {} } }, '<code dir="ltr">orders</code> in Ihrem Namen verwenden'],
])('in %s, with %j, a scope of an API is "%s"', (locale, options, expected) => {
  expect(itemsOf(['orders'], locale, options)).toEqual([expected])
})

test('an added language uses the texts of the operator, before English ones', () => {
  const options: PagesOptions = {
    locales: ['de', 'sv'],
    messages: { sv: { scopeEmail: 'Se din e-postadress' } },
    scopes: { email: 'Adresse sehen', phone: 'Nummer sehen' },
  }
  expect(itemsOf(['email', 'phone', 'address'], 'sv', options)).toEqual([
    'Se din e-postadress',
    '<span lang="de">Nummer sehen</span>',
    '<span lang="en">See your postal address</span>',
  ])
})

test('finds the texts that pages lack', () => {
  const locales = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']
  const scopes = {
    email: 'See your address',
    a: 'One text',
    b: Object.fromEntries(locales.map((locale) => [locale, 'B'])),
  }
  expect(missingTexts({ languages, scopes })).toEqual([{ path: 'scopes.a', locales: locales.slice(1) }])
  expect(missingTexts({ languages, scopes, locales: ['en-GB'] })).toEqual([])
  expect(missingTexts({ languages, locales: ['de', 'sv', 'fi'], messages: { sv: { signIn: 'Logga in' } } })).toEqual([
    { path: 'messages.sv', locales: ['sv'] },
    { path: 'messages.fi', locales: ['fi'] },
  ])
  expect(missingTexts({ languages })).toEqual([])
})
