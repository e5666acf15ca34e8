// The logo of a client belongs to its name, and is replaced by an initial while it cannot be loaded.
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { expect, test } from 'vitest'

const pages = createPages({ languages })
const client = { clientId: 'shop', name: 'émile’s Shop', logoUri: 'https://shop.example.com/logo.png' }
const form = { action: '/', fields: {}, formTargets: [], client }
const consent = pages.consent({ ...form, subjectName: 'alice', scopes: [], resources: [], claims: [] }, 'en')
const confirm = {
  step: 'confirm',
  userCode: 'BCDF-GHJK',
  client,
  subjectName: 'alice <b>',
  scopes: [],
  choosable: [],
  leftOut: [],
  resources: [],
  formToken: 't',
} as const

test.each([
  ['sign-in', pages.signIn({ ...form, canCancel: true, ways: [], asksForPassword: true }, 'en')],
  ['consent', consent],
  ['choice of account', pages.chooseAccount({ ...form, accounts: [] }, 'en')],
  ['second factor', pages.secondFactor({ ...form, subjectName: 'alice' }, 'en')],
  ['device', pages.deviceCode(confirm, 'en')],
])('the page %s has the initial of the client behind its logo, which needs no script', (_name, { html, sources }) => {
  expect(html).toMatch(
    /<span class="logo"><img src="https:\/\/shop\.example\.com\/logo\.png" alt=""><span aria-hidden="true">É<\/span><\/span>/u,
  )
  expect(html).not.toMatch(/onerror/u)
  expect(sources.image).toEqual(['https://shop.example.com'])
})

test('a client without a logo, or with one that no page can load, has neither', () => {
  for (const logoUri of [undefined, 'http://shop.example.com/a.png']) {
    const { html, sources } = pages.signIn(
      { ...form, client: { ...client, logoUri }, canCancel: true, ways: [], asksForPassword: true },
      'en',
    )
    expect([html.includes('class="logo"'), sources.image]).toEqual([false, undefined])
  }
})

test('the logo is beside the name of the client, never beside that of the user', () => {
  expect(consent.html).toMatch(/<div class="title"><span class="logo">.*<\/span><div><h1><bdi>émile’s Shop/u)
  expect(consent.html).toContain('<p class="muted" id="user">Signed in as alice</p>')
})

test('the page for devices says who is signed in', () => {
  const { html } = pages.deviceCode(confirm, 'de')
  expect(html).toContain('<p class="muted" id="user">Angemeldet als alice &lt;b&gt;</p>')
  const { subjectName: _, ...unnamed } = confirm
  expect(pages.deviceCode(unnamed, 'de').html).not.toContain('Angemeldet')
})
