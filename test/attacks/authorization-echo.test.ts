/**
 * Attack: an attacker sends a victim a link whose parameters contain HTML, header lines or megabytes, so that a
 * page of the provider runs script, a header ends early (response splitting), or a process runs out of time or memory.
 */
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { request, setUp } from '../authorization/parties.ts'

const hostile = [
  '"><script>alert(1)</script>',
  "'-alert(1)-'",
  '</script><script>alert(1)</script>',
  '" autofocus onfocus="alert(1)',
  '&quot;&gt;<img src=x onerror=alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
  'javascript:alert(1)',
]

const parameterNames = [
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'prompt',
  'nonce',
  'response_mode',
  'ui_locales',
  'login_hint',
]

describe('an echoed value', () => {
  test.each(parameterNames)('of %s runs no script on a page', async (name) => {
    const { browser, urlOf } = await setUp()
    for (const value of hostile) {
      for (const mode of ['query', 'form_post']) {
        const { html, headers } = await browser().open(urlOf({ ...request, response_mode: mode, [name]: value }))
        const inert = html.replaceAll(/value="[^"]*"/gu, '')
        expect(inert).not.toMatch(/alert|onerror|onfocus|constructor/u)
        if (html !== '') expect(headers.get('content-security-policy')).not.toMatch(/unsafe|script-src[^;]*https?:/u)
      }
    }
  })

  test.each(hostile)('the form of form_post returns the state %j unchanged, and only as a value', async (state) => {
    const { browser, urlOf } = await setUp()
    const page = await browser().open(urlOf({ ...request, response_mode: 'form_post', state }))
    expect(hiddenFields(page).state).toBe(state)
    expect(page.html.match(/<script>/gu)).toHaveLength(1)
  })

  test.each([
    '\r\nSet-Cookie: session=evil',
    '\nLocation: https://evil.example',
    '\r\n\r\n<html>',
    '\0',
    '\u2028',
    '嘊嘍',
  ])('the text %j adds no header line', async (text) => {
    const { browser, urlOf } = await setUp()
    for (const name of parameterNames) {
      const { headers } = await browser().open(urlOf({ ...request, [name]: `x${text}` }))
      expect(headers.getSetCookie()).toEqual([])
      expect(headers.get('location') ?? '').toMatch(/^(?:https:\/\/(?:client|id)\.example\.com\/[\x21-\x7E]*)?$/u)
    }
  })

  test.each([8192, 60_000])('a value of %i characters gets a clear refusal, or is not used', async (length) => {
    const { browser, urlOf, events } = await setUp()
    for (const name of [...parameterNames, 'claims', 'id_token_hint', 'max_age', 'display', 'acr_values', 'extra']) {
      const { status } = await browser().open(urlOf({ ...request, [name]: 'x'.repeat(length) }))
      expect([303, 400]).toContain(status)
    }
    expect(events.filter(({ type }) => type === 'unhandled_failure')).toEqual([])
  })

  test('more than 64 KiB are refused with a page', async () => {
    const { browser, urlOf, provider } = await setUp()
    const extra = { ...request, extra: 'x'.repeat(70_000) }
    const [byGet, byPost] = [
      await browser().open(urlOf(extra)),
      await browser().submit(`${provider.issuer}/connect/authorize`, extra),
    ]
    expect([byGet.status, byPost.status]).toEqual([414, 413])
    expect(byGet.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test.each([
    [
      'many claims',
      JSON.stringify({ userinfo: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`c${i}`, null])) }),
    ],
    ['deep nesting', `{"userinfo":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}`],
    ['a long name', JSON.stringify({ id_token: { ['x'.repeat(60_000)]: null } })],
  ])('claims with %s are refused before they are parsed', async (_name, claims) => {
    const { browser, urlOf } = await setUp()
    const page = await browser().open(urlOf({ ...request, claims: claims.slice(0, 60_000) }))
    expect(page.url.searchParams.get('error')).toBe('invalid_request')
  })

  test('an error page does not show a value of the request', async () => {
    const { browser, urlOf } = await setUp()
    const marked = Object.fromEntries(Object.keys(request).map((name) => [name, `marker-${name}`]))
    const { html } = await browser().open(urlOf(marked))
    expect(html).not.toContain('marker')
  })
})
