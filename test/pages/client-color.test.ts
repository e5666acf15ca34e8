import { createHash } from 'node:crypto'
import { createPages } from '@grantry/pages'
import { expect, test } from 'vitest'

const pages = createPages({ colors: { accent: '#123456' } })
const form = { action: '/signin', fields: {}, formTargets: [] }
const signIn = (color: string | undefined) =>
  pages.signIn({ ...form, client: { clientId: 'shop', color }, canCancel: true, ways: [], asksForPassword: true }, 'en')
const accentOf = (html: string): string | undefined => /--accent:(#[\da-f]+)/u.exec(html)?.[1]

test('the pages about an application have its colour, and others that of the pages', () => {
  expect(accentOf(signIn('#C2410C').html)).toBe('#c2410c')
  expect(accentOf(signIn(undefined).html)).toBe('#123456')
  expect(accentOf(pages.error({ code: 'invalid_request', reason: 'x' }, 'en').html)).toBe('#123456')
})

test('the policy names the style of each colour', () => {
  for (const color of ['#c2410c', '#ffd54a', undefined]) {
    const { html, sources } = signIn(color)
    const style = /<style>([^<]*)<\/style>/u.exec(html)?.[1] ?? ''
    expect(sources.style).toEqual([`'sha256-${createHash('sha256').update(style).digest('base64')}'`])
  }
})

test('what is not a colour does not become a style', () => {
  for (const color of ['red', '#fff', '#12345g', '#123456;}body{display:none', '#123456\n', '']) {
    expect(accentOf(signIn(color).html)).toBe('#123456')
  }
})

test('many colours do not change a page', () => {
  const first = signIn('#000001')
  for (let color = 2; color < 300; color += 1) signIn(`#${color.toString(16).padStart(6, '0')}`)
  expect(signIn('#000001')).toEqual(first)
})
