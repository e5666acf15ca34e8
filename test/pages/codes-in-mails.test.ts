// The codes of mails, in groups that stay in their order in each language.
import { createAccountPages } from '@grantry/pages/account'
import { languages } from '@grantry/pages/languages'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { expect, test } from 'vitest'
import { typedCode } from '../../plugins/shared/typed-code.ts'

const code = '01234567'

test.each(Object.keys(languages))('%s has two groups in the text, and in one line of the page', (locale) => {
  const pages = {
    ...createAccountPages({ languages }),
    ...createSelfServicePages({ languages, host: 'id.example.com' }),
  }
  const mails = [
    pages.mail({ kind: 'recovery', url: 'https://id.example.com/', code, minutes: 15 }, locale),
    pages.addressMail({ kind: 'code', service: 'id.example.com', code, minutes: 15 }, locale),
  ]
  // Between Arabic words, only a common separator keeps the order of two numbers (Unicode Standard Annex 9, rule W4).
  const expected = locale === 'ar' ? '0123\u00a04567' : '0123 4567'
  for (const { text, html } of mails) {
    expect(text.split('\n')).toContain(expected)
    expect(html).toContain(`white-space:nowrap"><bdi dir="ltr">${expected}</bdi></p>`)
  }
  expect(typedCode(expected)).toBe(code)
})
