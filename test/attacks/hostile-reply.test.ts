/**
 * Attack: a careless endpoint copies text of the caller into a header of its reply. A line break would add a header or
 * split the response; a `;` would add an attribute to a cookie or a source to the policy of a page; `javascript:` would
 * run in the origin of the provider; `//host` or `https:host` would lead to another site although it looks relative.
 */
import { defineEndpoint, definePlugin, type Reply } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'

async function reply(careless: (text: string) => object, text: string) {
  const plugin = definePlugin('careless', [
    defineEndpoint({
      name: 'careless',
      path: '/careless',
      methods: ['POST'],
      caller: 'anyone',
      params: v.object({ text: v.optional(v.string(), '') }),
      handle: ({ params }) => careless(params.text) as Reply,
    }),
  ])
  const { post } = await fixture({ plugins: [builtInPlugins, plugin] })
  return post('careless', { text })
}

async function expectDefect(careless: (text: string) => object, text: string): Promise<void> {
  const { status, body, headers } = await reply(careless, text)
  expect([status, body]).toEqual([500, { error: 'server_error' }])
  for (const name of ['location', 'set-cookie', 'content-security-policy', 'x-evil'])
    expect(headers.has(name)).toBe(false)
}

describe('a location', () => {
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://id.example.com/x',
    'about:blank',
    'myapp:/callback',
    '//evil.example.net/',
    '/\\evil.example.net/',
    '\\\\evil.example.net/',
    '/relative',
    'relative',
    '',
    'https:evil.example.net',
    'https:/evil.example.net',
    'https:\\\\evil.example.net',
    'https://',
    'https://id.example.com@evil.example.net/',
    'https://id.example.com:x@evil.example.net/',
    'https://web.example.com/\r\nx-evil: 1',
    'https://web.example.com/\nx-evil: 1',
    'https://web.example.com/\u0000',
    'https://web.example.com/a b',
    'https://web.example.com/\u560a\u560dx-evil: 1',
    'https://web.example.com/é',
    ' https://web.example.com/',
    '\thttps://web.example.com/',
    'java\nscript:alert(1)',
    `https://web.example.com/${'a'.repeat(8200)}`,
  ])('%j becomes server_error', (text) => expectDefect((location) => ({ location }), text))
})

const withValue = (value: string) => ({ cookies: ['b=c', `a=${value}; Path=/x; HttpOnly`] })

describe('a cookie', () => {
  test('with a well-formed value is sent', async () => {
    expect((await reply(withValue, 'x')).headers.getSetCookie()).toEqual(['b=c', 'a=x; Path=/x; HttpOnly'])
  })

  test.each([
    'x; Domain=evil.example.net',
    'x; Path=/',
    'x; httponly',
    'x; more=y',
    'x;Secure',
    'x\r\nx-evil: 1',
    'x\nset-cookie: b=c',
    'x\u0000',
    'x,y',
    'x y',
    'a"b',
    'a\\b',
    'é',
    'a;b',
    'x'.repeat(4100),
  ])('with the value %j becomes server_error', (text) => expectDefect(withValue, text))

  test.each(['a b', 'a;', '', 'é', 'a\r\n'])('with the name %j becomes server_error', (text) =>
    expectDefect((name) => ({ cookies: [`${name}=c`] }), text),
  )
})

describe('a source of a page', () => {
  test.each([
    "'unsafe-inline'",
    "'unsafe-eval'",
    "'none'",
    '*',
    'https:',
    'https://*.example.com',
    'https://cdn.example.com; script-src *',
    "https://cdn.example.com 'unsafe-inline'",
    'https://cdn.example.com\r\nx-evil: 1',
    'http://cdn.example.com',
    "'sha256-x'",
    "'nonce-abc'",
    'javascript:',
    'https://cdn.example.com/path',
    '',
  ])('%j becomes server_error', async (text) => {
    await expectDefect((source) => ({ html: '', sources: { style: [source] } }), text)
    await expectDefect((source) => ({ html: '', sources: { image: ["'self'", source] } }), text)
  })

  test.each([
    "'self'",
    "'unsafe-inline'",
    "'unsafe-eval'",
    "'unsafe-hashes'",
    "'strict-dynamic'",
    "'nonce-YWJj'",
    "'none'",
    'https:',
    'data:',
    'blob:',
    'https://cdn.example.com',
    "'sha256-x'",
    `'sha1-${'a'.repeat(27)}='`,
    `sha256-${'a'.repeat(43)}=`,
    `'sha256-${'a'.repeat(43)}=' 'unsafe-inline'`,
    `'sha256-${'a'.repeat(43)}='; script-src *`,
    `'sha256-${'a'.repeat(43)}='\n`,
    '',
  ])('that runs as a script, %j, becomes server_error', (text) =>
    expectDefect((source) => ({ html: '', sources: { script: [source] } }), text),
  )

  test.each([
    '* https:',
    '*;',
    'https://*',
    'https',
    'HTTPS:',
    'https: *',
    'http:;',
    'ws:',
    'javascript:',
    'data:',
    "'unsafe-inline'",
    'https://a.example; script-src *',
    'http://[::1]:8080',
  ])('that a form may lead to, %j, becomes server_error', (text) =>
    expectDefect((source) => ({ html: '', sources: { form: [source] } }), text),
  )

  test('cannot allow data: for styles', () =>
    expectDefect((source) => ({ html: '', sources: { style: [source] } }), 'data:'))
})
