import { decodeJwt } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import {
  authorizationEndpoint,
  authorizationRequests,
  loginPage,
  userConsents,
} from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { alice, clients, hostSignIn, redirectUri, request, web } from './parties.ts'

const page = 'https://id.example.com/login'

/** A host with a login page of its own, without `authorizationEndpoint()`. */
async function host() {
  const f = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), refreshToken(), loginPage({ trusted: true })],
    clients: [...clients],
  })
  const requests = f.provider.use(authorizationRequests)
  const parse = (parameters: Readonly<Record<string, string>>, method = 'GET') => {
    const form = new URLSearchParams(parameters)
    return requests.parse(method === 'GET' ? new Request(`${page}?${form}`) : new Request(page, { method, body: form }))
  }
  const checked = async (parameters: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const result = await parse({ ...request, ...parameters }, method)
    if ('response' in result) throw new Error('The request was refused')
    return result
  }
  const refusalOf = async (parameters: Readonly<Record<string, string>>) => {
    const result = await parse({ ...request, ...parameters })
    if (!('response' in result)) throw new Error('The request was accepted')
    return result.response
  }
  return { ...f, requests, parse, checked, refusalOf }
}

const parametersOf = ({ headers }: Response) =>
  Object.fromEntries(new URL(headers.get('location') ?? 'x:').searchParams)

describe('a page of the host', () => {
  test('11.26 a host parses a request and sends a code, with nonce, state and issuer', async () => {
    const { provider, requests, checked, post } = await host()
    const parsed = await checked({ max_age: '60', login_hint: 'alice' })
    expect(parsed).toMatchObject({ maxAge: 60, loginHint: 'alice', nonce: request.nonce, scopes: ['openid', 'api1'] })
    const { response, error } = await requests.respond(parsed, {
      subject: alice,
      scopes: parsed.scopes,
      consented: true,
    })
    expect(error).toBeUndefined()
    const { code, ...others } = parametersOf(response)
    expect(others).toEqual({ state: request.state, iss: provider.issuer })
    expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store'])
    const form = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri }
    const { body } = await post('token', form, web)
    expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'alice', nonce: request.nonce })
  })

  test('11.26 a form can have the fields of the page; passwords are dropped', async () => {
    const { checked } = await host()
    const { params } = await checked({ username: 'alice', password: 'secret', client_secret: 'secret' }, 'POST')
    expect(params).toEqual({ ...request, grantry_started: expect.any(String) })
  })

  test.each([
    ['an unknown client', { client_id: 'x' }, 'client_unknown'],
    ['an unknown redirect_uri', { redirect_uri: 'https://evil.example/' }, 'redirect_uri_mismatch'],
  ])('11.26 the response for %s is a page', async (_name, parameters, reason) => {
    const { refusalOf } = await host()
    const response = await refusalOf(parameters)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/u)
    expect(await response.text()).toContain(reason)
  })

  test.each([
    ['response_type=token', { response_type: 'token', response_mode: 'query' }, 'unsupported_response_type'],
    ['a request object', { request: 'x' }, 'request_not_supported'],
    ['a pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'request_uri_not_supported'],
    ['an unknown scope', { scope: 'x' }, 'invalid_scope'],
    ['an unknown prompt', { prompt: 'x' }, 'invalid_request'],
  ])('11.26 the response for %s goes to the client', async (_name, parameters, error) => {
    const { refusalOf, provider } = await host()
    expect(parametersOf(await refusalOf(parameters))).toMatchObject({
      error,
      state: request.state,
      iss: provider.issuer,
    })
  })

  test('11.26 a repeated parameter gets a page, and so does a body that is no form', async () => {
    const { requests } = await host()
    const received = [
      new Request(`${page}?client_id=web&client_id=web`),
      new Request(page, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
    ]
    const results = await Promise.all(received.map((request) => requests.parse(request)))
    expect(results.map((result) => 'response' in result && result.response.status)).toEqual([400, 415])
  })

  test('11.26 form_post is a page that sends a form', async () => {
    const { requests, checked } = await host()
    const parsed = await checked({ response_mode: 'form_post' })
    const { response, error: refused } = await requests.respond(parsed, { refuse: 'access_denied' })
    expect(refused).toBe('access_denied')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('name="error" value="access_denied"')
  })

  test.each([
    ['prompt=login, and an authentication before the request', { prompt: 'login' }, 'login_required'],
    ['max_age', { max_age: '10' }, 'login_required'],
    ['a sub', { claims: JSON.stringify({ id_token: { sub: { value: 'bob' } } }) }, 'login_required'],
  ])('11.26 a decision that does not meet %s becomes a refusal', async (_name, parameters, error) => {
    const { provider, requests, checked, clock } = await host()
    const parsed = await checked(parameters)
    const subject = { ...alice, authTime: clock.now() - 20 }
    const answer = await requests.respond(parsed, { subject, scopes: parsed.scopes, consented: true, remember: true })
    expect(parametersOf(answer.response)).toMatchObject({ error, state: request.state })
    expect(answer.error).toBe(error)
    expect(await provider.use(userConsents).list('alice')).toEqual([])
  })

  test('11.26 a public client needs a challenge here too', async () => {
    const { refusalOf } = await host()
    const response = await refusalOf({ client_id: 'spa', redirect_uri: 'http://127.0.0.1:5000/callback' })
    expect(parametersOf(response)).toMatchObject({ error: 'invalid_request' })
  })

  test('11.26 a scope that was not requested is a defect of the page', async () => {
    const { requests, checked } = await host()
    const decision = { subject: alice, scopes: ['profile'], consented: true } as const
    await expect(requests.respond(await checked(), decision)).rejects.toThrow('not requested')
  })
})

describe('loginPage()', () => {
  test('11.26 shows a page before a refusal, unless a client is trusted', async () => {
    const plugins = [authorizationCode(), proofKey(), refreshToken(), loginPage()]
    const [web, ...others] = clients
    const refused = new Request(`${page}?${new URLSearchParams({ ...request, scope: 'x' })}`)
    for (const [requireConsent, status] of [
      [true, 400],
      [false, 303],
    ] as const) {
      const { provider } = await createTestProvider({
        plugins,
        clients: [{ ...web, clientId: 'web', requireConsent }, ...others],
      })
      const result = await provider.use(authorizationRequests).parse(refused)
      expect('response' in result && result.response.status).toBe(status)
    }
  })

  test('remembers consents for as long as its option states', async () => {
    const plugins = [authorizationCode(), proofKey(), refreshToken(), loginPage({ consentLifetime: 60 })]
    const { provider, clock } = await createTestProvider({ plugins, clients: [...clients] })
    const requests = provider.use(authorizationRequests)
    const checked = await requests.parse(new Request(`${page}?${new URLSearchParams(request)}`))
    if ('response' in checked) throw new Error('refused')
    const consents = provider.use(userConsents)
    await requests.respond(checked, { subject: alice, scopes: checked.scopes, consented: true, remember: true })
    expect(await consents.suffice(checked, 'alice')).toBe(true)
    clock.advance(60)
    expect(await consents.suffice(checked, 'alice')).toBe(false)
  })

  test.each([
    [{ trustd: true }, 'loginPage(): trustd is not a known option; did you mean trusted?'],
    [{ trusted: 'yes' }, 'loginPage(): trusted must be true or false'],
    [{ consentLifetime: 1 }, 'loginPage(): consentLifetime must be 60 to 315360000 seconds'],
  ])('refuses the options %j', (options, message) => {
    expect(() => loginPage(options as object)).toThrow(message)
  })

  test('is installed instead of the endpoint', async () => {
    const plugins = [loginPage(), authorizationEndpoint({ interaction: hostSignIn })]
    await expect(createTestProvider({ plugins })).rejects.toThrow('two plugins have the name authorization-endpoint')
  })
})
