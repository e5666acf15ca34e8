// A language is one file. A program has those that it imports.
import { readdirSync, readFileSync } from 'node:fs'
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { en, languages, type Texts } from '@grantry/pages/languages'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { expect, test } from 'vitest'
import { sources } from '../architecture/source-files.ts'
import { bundleText } from '../support/bundle-text.ts'

const folder = new URL('../../packages/pages/src/texts/', import.meta.url)
const fileOf = (tag: string): Texts => JSON.parse(readFileSync(new URL(`${tag}.json`, folder), 'utf8'))
const tags = readdirSync(folder).map((name) => name.replace(/\.json$/u, ''))
const others = tags.filter((tag) => tag !== 'en')

/** The keys of the texts in their order, each with the names in its braces. */
const shapeOf = (texts: Texts): readonly string[] =>
  Object.entries(texts).flatMap(([set, entries]) =>
    Object.entries(entries).map(([key, text]) => {
      const names = [...text.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)
      return `${set}.${key} ${[...new Set(names)].sort()}`
    }),
  )

test.each(others)('%s has the texts of English in their order, with the same names in braces', (tag) => {
  expect(shapeOf(fileOf(tag))).toEqual(shapeOf(en))
})

test('each file is an export and one of the languages, and no text is empty', () => {
  expect(Object.keys(languages).sort()).toEqual(tags.sort())
  for (const tag of tags) {
    expect(languages[tag]).toEqual(fileOf(tag))
    expect(Object.values(fileOf(tag)).flatMap((set) => Object.values(set).filter((text) => text === ''))).toEqual([])
  }
})

test('each text of en.json is used in the sources of the pages', () => {
  const pages = sources.filter(({ path }) => path.startsWith('packages/pages/src/')).map(({ text }) => text)
  const isUsed = (key: string): boolean =>
    pages.some((text) => new RegExp(`'${key}'|\\.${key}\\b|^ *${key},$|[{,] ${key}[ ,]`, 'mu').test(text))
  const unused = Object.entries(en).flatMap(([set, texts]) =>
    Object.keys(texts).flatMap((key) => (isUsed(key) ? [] : `${set}.${key}`)),
  )
  expect(unused, 'use these texts in a template, or remove them from each language').toEqual([])
})

test.each(others)('a program that names %s without its texts is refused', (tag) => {
  const { [tag]: texts } = languages
  for (const locale of [tag, `${tag}-XX`]) {
    const message = `the option languages has no texts for ${locale}, which @grantry/pages/languages exports`
    expect(() => createPages({ locales: [locale] })).toThrow(`createPages(): ${message}`)
    expect(() => createPages({ messages: { [locale]: { signIn: 'x' } } })).toThrow(message)
    expect(() => createAccountPages({ locales: [locale] })).toThrow(`createAccountPages(): ${message}`)
    expect(() => createSelfServicePages({ locales: [locale], host: 'a' })).toThrow(
      `createSelfServicePages(): ${message}`,
    )
    if (texts !== undefined) expect(createPages({ locales: [locale], languages: { [tag]: texts } })).toBeDefined()
  }
})

test('English is there without being named, and first without locales', () => {
  expect(createPages().localeOf('de', 'fr')).toBe('en')
  expect(createPages({ languages }).localeOf('xx', null)).toBe('en')
})

test('a program can add a language of its own, for each page and mail', () => {
  const swedish = {
    ...en,
    account: { ...en.account, accountTitle: 'Ditt konto' },
    mails: { ...en.mails, send: 'Skicka' },
  }
  const options = { languages: { 'sv-FI': swedish }, locales: ['sv-FI-x-a'] }
  const account = createAccountPages(options).signedOut({ again: '/' }, 'sv-FI-x-a').html
  expect(account).toContain('<h1>Ditt konto</h1>')
  const form = { action: '/', fields: {}, formTargets: [], backUrl: '/', client: { clientId: 'a' } }
  const pages = createSelfServicePages({ ...options, host: 'a' })
  expect(pages.askAddress({ ...form, purpose: 'recovery' }, 'sv-FI-x-a').html).toContain('>Skicka</button>')
})

test.each([
  ['texts', { signIn: { errorTitle: 'Fel' }, account: {}, mails: {} }],
  ['sets', { signIn: { errorTitle: 'Fel' } }],
])('a language without some %s, such as one from a file of an earlier version, has the English ones', (_, sv) => {
  const options = { languages: { sv } as never }
  const error = createPages(options).error({ code: 'server_error', reason: 'a' }, 'sv').html
  expect(error).toContain('<h1>Fel</h1>')
  expect(error).toContain(`<p>${en.signIn.errorHint}</p>`)
  expect(error).toContain(`<p id="explanation">${en.signIn.errorServer}</p>`)
  const account = createAccountPages(options).signedOut({ again: '/' }, 'sv').html
  expect(account).toContain(`<h1>${en.account.accountTitle}</h1>`)
  const form = { action: '/', fields: {}, formTargets: [], backUrl: '/', client: { clientId: 'a' } }
  const pages = createSelfServicePages({ ...options, host: 'a' })
  expect(pages.askAddress({ ...form, purpose: 'recovery' }, 'sv').html).toContain(`>${en.mails.send}</button>`)
})

const creators = `import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
const host = 'id.example.com'
export const pagesIn = (options) => [createPages(options), createAccountPages(options), createSelfServicePages({ ...options, host })]
`

/** The languages whose texts are in the bundle of a program. */
async function bundled(program: string): Promise<readonly string[]> {
  const file = await bundleText(`${creators}${program}`, new URL('.', import.meta.url))
  const text = readFileSync(file, 'utf8').replaceAll(/\\(?:u([\da-f]{4})|x([\da-f]{2}))/giu, (_, long, short) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  )
  return tags.filter((tag) => {
    const { signIn, account, mails } = fileOf(tag)
    return [signIn.consentIntro, account.profileIntro, mails.signUpIntro].some((of) => text.includes(of))
  })
}

test.each([
  ['no other one for locales: [en]', "export const pages = pagesIn({ locales: ['en'] })", ['en']],
  [
    'those that it imports',
    "import { de, fr } from '@grantry/pages/languages'\nexport const pages = pagesIn({ languages: { de, fr } })",
    ['de', 'en', 'fr'],
  ],
  [
    'all',
    "import { languages } from '@grantry/pages/languages'\nexport const pages = pagesIn({ languages })",
    [...tags].sort(),
  ],
])('the bundle of a program has %s', async (_which, program, expected) => {
  expect([...(await bundled(program))].sort()).toEqual(expected)
})

test.each(['', 'd', 'deutsch_1', 'de_AT', 'de-', 'de AT', 'x', 'en-a-', '" onload="', 'a'.repeat(40), 'de-DE-DE-1-'])(
  'the tag %j of a language of its own is refused',
  (tag) => {
    for (const create of [createPages, createAccountPages]) {
      const options = { languages: { [tag]: en } }
      expect(() => create(options)).toThrow(
        /languages.*must (?:be a language tag of BCP 47|have at most 35 characters)/u,
      )
    }
  },
)

test.each(['sv', 'pt-BR', 'zh-Hant-HK', 'de-CH-1996', 'sv-FI-x-a', 'SR-latn'])(
  'the tag %s of a language of its own is accepted',
  (tag) => {
    expect(
      createPages({ languages: { [tag]: en }, locales: [tag] }).error({ code: 'a', reason: 'a' }, tag).html,
    ).toContain(`lang="${tag}"`)
  },
)
