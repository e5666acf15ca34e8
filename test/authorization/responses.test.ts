import { OAuthError } from '@grantry/core'
import { plainPages } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from './browser.ts'
import { alice, hostSignIn, redirectUri, request, setUp } from './parties.ts'

const { state: _, ...withoutState } = request

describe('every response', () => {
  test('11.4 a code comes with the state and the issuer, and nothing else', async () => {
    const { browser, urlOf, provider } = await setUp()
    const { code, ...others } = answer(await browser().open(urlOf(request)))
    expect(code).toMatch(/^[\w-]{43}$/u)
    expect(others).toEqual({ state: request.state, iss: provider.issuer })
  })

  test('11.4 an error comes with the state and the issuer, and nothing else', async () => {
    const { browser, urlOf, provider } = await setUp({ interact: () => ({ refuse: 'access_denied' }) })
    expect(answer(await browser().open(urlOf(request)))).toEqual({
      error: 'access_denied',
      error_description: 'The user has denied the request',
      state: request.state,
      iss: provider.issuer,
    })
  })

  test.each([
    ['a code', withoutState],
    ['an error', { ...withoutState, prompt: 'x' }],
    ['a code, for an empty state', { ...withoutState, state: '' }],
  ])('11.4 %s has no state if the request has none', async (_name, parameters) => {
    const { browser, urlOf, provider } = await setUp()
    const { state, iss } = answer(await browser().open(urlOf(parameters)))
    expect([state, iss]).toEqual([undefined, provider.issuer])
  })

  test('11.4 discovery announces the issuer in responses', async () => {
    const { provider } = await setUp()
    expect(provider.metadata.authorization_response_iss_parameter_supported).toBe(true)
  })
})

describe('response_mode', () => {
  test.each([
    ['query', `${redirectUri}?`],
    ['fragment', `${redirectUri}#`],
  ])('11.6 response_mode=%s applies to codes and errors', async (mode, start) => {
    const { browser, urlOf } = await setUp()
    for (const more of [{}, { prompt: 'x' }]) {
      const { url } = await browser().open(urlOf({ ...request, ...more, response_mode: mode }))
      expect(url.href.startsWith(start)).toBe(true)
      expect(url.href).toContain(`state=${request.state}`)
    }
  })

  test('11.6 an error in the fragment is not in the query', async () => {
    const { browser, urlOf } = await setUp()
    const { url } = await browser().open(urlOf({ ...request, prompt: 'x', response_mode: 'fragment' }))
    expect([url.search, url.hash.startsWith('#error=')]).toEqual(['', true])
  })

  test.each([
    ['a code', {}, { code: expect.any(String) }],
    ['an error', { prompt: 'x' }, { error: 'invalid_request', error_description: expect.any(String) }],
  ])('11.6 response_mode=form_post sends %s by a form', async (_name, more, expected) => {
    const { browser, urlOf, provider, events } = await setUp()
    const page = await browser().open(urlOf({ ...request, ...more, response_mode: 'form_post' }))
    expect([page.status, page.headers.get('location')]).toEqual([200, null])
    expect(hiddenFields(page)).toEqual({ ...expected, state: request.state, iss: provider.issuer })
    expect(page.html).toContain(`<form method="post" action="${redirectUri}">`)
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; frame-ancestors 'none'; base-uri 'none';.* script-src 'sha256-[^;]*$/u,
    )
    expect(events.at(-1)?.type).toBe('error' in expected ? 'endpoint_failed' : 'endpoint_succeeded')
  })

  test.each([
    ['an unknown response_mode', { response_mode: 'web_message' }],
    [
      'form_post to an application that is no web server',
      {
        client_id: 'spa',
        redirect_uri: 'com.example.app:/callback',
        response_mode: 'form_post',
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      },
    ],
  ])('11.6 refuses %s by the query', async (_name, more) => {
    const { browser, urlOf } = await setUp()
    expect(answer(await browser().open(urlOf({ ...request, ...more })))).toMatchObject({ error: 'invalid_request' })
  })

  test('11.6 discovery lists the modes', async () => {
    const { provider } = await setUp()
    expect(provider.metadata.response_modes_supported).toEqual(['query', 'fragment', 'form_post'])
  })
})

const failing = (thrown: unknown) => ({
  interact() {
    throw thrown
  },
})
const reason = 'plugin:test:x'

describe('errors', () => {
  test('11.22 an error description has only the characters of RFC 6749', async () => {
    const { browser, urlOf } = await setUp(
      failing(new OAuthError('access_denied', 'No "entry"\\ für\r\nyou', { reason })),
    )
    expect(answer(await browser().open(urlOf(request))).error_description).toBe('No entry fryou')
  })

  test.each([
    ['a defect', new TypeError('secret detail'), 'server_error', 'unhandled_failure'],
    [
      'an error of the token endpoint',
      new OAuthError('invalid_grant', 'x', { reason }),
      'server_error',
      'unhandled_failure',
    ],
    ['too many attempts', new OAuthError('slow_down', 'x', { reason, status: 429 }), 'temporarily_unavailable', reason],
    [
      'a storage that does not respond',
      new OAuthError('temporarily_unavailable', 'x', { reason }),
      'temporarily_unavailable',
      reason,
    ],
  ])('11.22 %s reaches the client, with its cause in an event', async (_name, thrown, code, failed) => {
    const { browser, urlOf, events } = await setUp(failing(thrown))
    const page = await browser().open(urlOf(request))
    expect(page.status).toBe(303)
    expect(answer(page)).toMatchObject({ error: code, state: request.state })
    expect(page.url.href).not.toContain('secret')
    expect(events).toContainEqual(expect.objectContaining({ type: 'endpoint_failed', error: code, reason: failed }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'unhandled_failure', reason: failed }))
  })

  test.each([
    ['nothing', undefined, 303],
    ['a scope that was not requested', { scopes: ['profile'], subject: alice, trusted: true }, 303],
    ['an unknown member', { sub: 'alice' }, 500],
  ])('11.22 an interaction that returns %s is a defect of the host', async (_name, result, expected) => {
    const { browser, urlOf } = await setUp({ interact: () => result as never })
    const { status, url } = await browser().open(urlOf(request))
    expect(status).toBe(expected)
    if (status === 303) expect(url.searchParams.get('error')).toBe('server_error')
    expect(url.searchParams.has('code')).toBe(false)
  })

  test('11.22 a decision without a scope is refused', async () => {
    const { browser, urlOf } = await setUp({
      interact: () => ({ subject: alice, scopes: [], trusted: true }),
    })
    expect(answer(await browser().open(urlOf(request)))).toMatchObject({ error: 'invalid_scope' })
  })
})

describe('headers', () => {
  test.each([
    ['a redirect', request],
    ['an error by redirect', { ...request, prompt: 'x' }],
    ['an error page', { ...request, client_id: 'x' }],
    ['a page with a form', { ...request, response_mode: 'form_post' }],
  ])('11.23 no cache keeps %s', async (_name, parameters) => {
    const { browser, urlOf } = await setUp()
    const { headers } = await browser().open(urlOf(parameters))
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache'])
  })

  test.each([
    ['an error page', { ...request, client_id: 'x' }],
    ['a page with a form', { ...request, response_mode: 'form_post' }],
  ])('11.23 %s cannot be framed, sends no referrer and loads nothing', async (_name, parameters) => {
    const { browser, urlOf } = await setUp()
    const { headers } = await browser().open(urlOf(parameters))
    expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual(['DENY', 'no-referrer'])
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/u)
  })

  test('11.23 shows pages in the language of the user', async () => {
    const asked: unknown[] = []
    const pages = {
      ...plainPages,
      localeOf: (...args: readonly unknown[]) => {
        asked.push(args)
        return 'fr'
      },
      error: (_view: unknown, locale: string) => ({ html: `<p>${locale}</p>` }),
    }
    const { browser, urlOf } = await setUp(hostSignIn, { pages })
    expect((await browser().open(urlOf({ ...request, client_id: 'x' }))).html).toBe('<p>fr</p>')
    await browser().open(urlOf({ ...request, ui_locales: 'fr-CA fr', response_mode: 'form_post' }))
    expect(asked).toContainEqual(['fr-CA fr', null])
  })
})
