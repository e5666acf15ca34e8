import { decodeJwt } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields } from './browser.ts'
import { challenge, request, setUp, verifier } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

/** The response to the request with other parameters. `undefined` omits one. */
async function respond(more: Readonly<Record<string, string | undefined>>) {
  const f = await setUp()
  const pairs = Object.entries({ ...request, ...more }).filter(([, value]) => value !== undefined)
  return { ...f, parameters: answer(await f.browser().open(f.urlOf(Object.fromEntries(pairs) as typeof request))) }
}

describe('methods', () => {
  test('11.1 a POST becomes a GET, with which the browser sends the cookie of the session', async () => {
    const { provider } = await setUp()
    const url = `${provider.issuer}/connect/authorize`
    const response = await provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams(request) }))
    expect([response.status, response.headers.get('location')]).toEqual([303, `${url}?${new URLSearchParams(request)}`])
  })

  test.each([
    ['that is too long for a URL', async () => ({ extra: 'x'.repeat(5000) })],
    [
      'with a hint, which is a token',
      async ({ redeem, browser, urlOf }: Awaited<ReturnType<typeof setUp>>) => {
        const { body } = await redeem(answer(await browser().open(urlOf(request))).code)
        return { id_token_hint: String(body.id_token) }
      },
    ],
  ])('11.1 an own page sends a POST %s again, with which the browser sends its cookies', async (_name, moreOf) => {
    const f = await setUp()
    const url = `${f.provider.issuer}/connect/authorize`
    const browser = f.browser()
    const more = await moreOf(f)
    const page = await browser.submit(url, { ...request, ...more, client_secret: 'web-secret' })
    expect([page.status, page.html.includes(`<form method="post" action="${url}">`)]).toEqual([200, true])
    expect(hiddenFields(page)).toEqual({ ...request, ...more, resent: expect.stringMatching(/^[\w-]{43}$/u) })
    expect(answer(await browser.submit(url, hiddenFields(page)))).toMatchObject(isCode)
    // Another tab has sent a form meanwhile.
    const otherPage = await browser.submit(url, { ...request, ...more, resent: 'x'.repeat(43) })
    expect(answer(await browser.submit(url, hiddenFields(otherPage)))).toMatchObject(isCode)
  })

  test('11.1 a browser without cookies gets a page, and does not send its form again and again', async () => {
    const { browser, provider } = await setUp()
    const url = `${provider.issuer}/connect/authorize`
    const page = await browser().submit(url, { ...request, extra: 'x'.repeat(5000) })
    const again = await browser().submit(url, hiddenFields(page))
    expect([again.status, again.html.includes('cookies_missing'), again.html.includes('<form')]).toEqual([
      400,
      true,
      false,
    ])
  })

  test('11.1 a POST does not put credentials into a URL', async () => {
    const { provider } = await setUp()
    const body = new URLSearchParams({ ...request, client_secret: 'web-secret', code_verifier: verifier })
    const response = await provider.fetch(new Request(`${provider.issuer}/connect/authorize`, { method: 'POST', body }))
    expect(response.headers.get('location')).not.toMatch(/secret|verifier/u)
  })

  test.each(['PUT', 'DELETE'])('11.1 shows a page for %s', async (method) => {
    const { provider } = await setUp()
    const response = await provider.fetch(new Request(`${provider.issuer}/connect/authorize`, { method }))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD'])
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('response_type', () => {
  test.each([
    ['none', undefined, 'invalid_request'],
    ['an empty one', '', 'invalid_request'],
    ['an unknown one', 'codes', 'unsupported_response_type'],
    ['one in capitals', 'CODE', 'unsupported_response_type'],
    ['two of the same', 'code code', 'unsupported_response_type'],
  ])('11.7 refuses a request with %s', async (_name, response_type, error) => {
    expect((await respond({ response_type })).parameters).toMatchObject({ error, state: request.state })
  })

  test.each(['token', 'id_token', 'code id_token', 'code token', 'id_token token', 'code id_token token'])(
    '11.7 refuses response_type=%s in the fragment, where its clients read',
    async (response_type) => {
      const { browser, urlOf } = await setUp()
      const { url } = await browser().open(urlOf({ ...request, response_type }))
      const parameters = Object.fromEntries(new URLSearchParams(url.hash.slice(1)))
      expect(parameters).toMatchObject({ error: 'unsupported_response_type', state: request.state })
      expect(url.search).toBe('')
    },
  )
})

describe('other parameters', () => {
  test('11.9 ignores unknown parameters, in any order', async () => {
    const { browser, urlOf } = await setUp()
    const reversed = Object.fromEntries(
      Object.entries({ ...request, extra: 'foobar', ['__proto__']: 'x', constructor: 'x' }).reverse(),
    )
    expect(answer(await browser().open(urlOf(reversed)))).toMatchObject(isCode)
  })

  test.each(Object.keys(request))('11.9 shows a page for a repeated %s', async (name) => {
    const { browser, urlOf, provider } = await setUp()
    const { status, headers } = await browser().open(`${urlOf(request)}&${name}=x`)
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const twice = await createBrowser(provider).open(`${urlOf(request)}&${name}=`)
    expect(twice.status).toBe(400)
  })
})

const spa = {
  client_id: 'spa',
  redirect_uri: 'com.example.app:/callback',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

describe('the code challenge', () => {
  test.each([
    ['no challenge', { ...spa, code_challenge: undefined, code_challenge_method: undefined }],
    ['a method without a challenge', { ...spa, code_challenge: undefined }],
    ['a plain challenge', { ...spa, code_challenge_method: 'plain' }],
    ['a challenge without a method, which is plain', { ...spa, code_challenge_method: undefined }],
    ['an unknown method', { ...spa, code_challenge_method: 'S512' }],
    ['a challenge that is no SHA-256', { ...spa, code_challenge: 'x' }],
  ])('11.10 refuses %s of a public client', async (_name, more) => {
    expect((await respond(more)).parameters).toMatchObject({ error: 'invalid_request', state: request.state })
  })

  test('11.10 requires a challenge of a confidential client if its configuration does', async () => {
    const { browser, urlOf } = await setUp(undefined, {}, { clients: [{ ...confidential, requirePkce: true }] })
    expect(answer(await browser().open(urlOf(request)))).toMatchObject({ error: 'invalid_request' })
    const proved = { ...request, code_challenge: challenge, code_challenge_method: 'S256' }
    expect(answer(await browser().open(urlOf(proved)))).toMatchObject(isCode)
  })

  test('11.10 the verifier redeems the code of a public client', async () => {
    const { parameters, post } = await respond(spa)
    const form = {
      grant_type: 'authorization_code',
      client_id: 'spa',
      code: parameters.code ?? '',
      redirect_uri: spa.redirect_uri,
    }
    expect((await post('token', { ...form, code_verifier: 'b'.repeat(43) })).body.error).toBe('invalid_grant')
    expect((await post('token', { ...form, code_verifier: verifier })).status).toBe(200)
  })
})

const confidential = {
  clientId: 'web',
  secrets: [{ sha256: 'YTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTE=' }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris: [request.redirect_uri],
}

describe('the scope', () => {
  test.each([
    ['no scope', undefined],
    ['no scope that exists', 'unknown'],
    ['a scope with a tab', 'openid\tapi1'],
    ['1,001 characters', `openid ${'a'.repeat(994)}`],
  ])('11.11 refuses %s', async (_name, scope) => {
    expect((await respond({ scope })).parameters).toMatchObject({ error: 'invalid_scope', state: request.state })
  })

  test('11.11 without openid it is plain OAuth: there is no identity token', async () => {
    const { parameters, redeem } = await respond({ scope: 'api1' })
    const { status, body } = await redeem(parameters.code)
    expect([status, body.scope, body.id_token]).toEqual([200, 'api1', undefined])
  })

  test('11.11 accepts scopes in any order, and once', async () => {
    const { parameters, redeem } = await respond({ scope: ' api1  openid api1' })
    expect((await redeem(parameters.code)).body.scope.split(' ').toSorted()).toEqual(['api1', 'openid'])
  })

  test('11.11 refuses a client without the grant type', async () => {
    const { browser, urlOf } = await setUp(undefined, {}, { clients: [{ ...confidential, grantTypes: [] }] })
    expect(answer(await browser().open(urlOf(request)))).toMatchObject({ error: 'unauthorized_client' })
  })
})

describe('the nonce', () => {
  test.each([
    ['64 characters', 'n'.repeat(64)],
    ['300 characters', `${'n'.repeat(296)}-._~`],
    ['no nonce', undefined],
  ])('11.12 the identity token has the nonce of the request: %s', async (_name, nonce) => {
    const { parameters, redeem } = await respond({ nonce })
    expect(decodeJwt((await redeem(parameters.code)).body.id_token)?.claims.nonce).toBe(nonce)
  })

  test('11.12 refuses a nonce of more than 300 characters, instead of shortening it', async () => {
    const { parameters } = await respond({ nonce: 'n'.repeat(384) })
    expect(parameters).toMatchObject({ error: 'invalid_request', state: request.state })
  })
})

describe('hints', () => {
  test.each([
    ['display', ['page', 'popup', 'touch', 'wap', 'hologram']],
    ['ui_locales', ['se', 'fr-CA fr en', '!']],
    ['claims_locales', ['se']],
    ['acr_values', ['1 2']],
    ['login_hint', ['buffy@id.example.com', '<script>']],
  ])('11.21 %s never prevents a sign-in', async (name, values) => {
    for (const value of values) expect((await respond({ [name]: value })).parameters).toMatchObject(isCode)
  })

  test.each(['ui_locales', 'claims_locales', 'acr_values', 'login_hint'])(
    '11.21 refuses a value of %s with more than 1,000 characters',
    async (name) => {
      expect((await respond({ [name]: 'x'.repeat(1001) })).parameters).toMatchObject({ error: 'invalid_request' })
    },
  )
})

test.each(['https://a_b.example.com/l.png', 'https://[2001:db8::1]/l.png', 'https://example.com./l.png'])(
  'refuses the logo %s at start: a content security policy cannot name its host, so every page would fail',
  async (logoUri) => {
    await expect(setUp(undefined, {}, { clients: [{ clientId: 'a', logoUri }] })).rejects.toThrow(
      'logoUri must have a host of letters',
    )
  },
)
