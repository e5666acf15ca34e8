/**
 * Attack: an attacker has a client at the provider, or knows one that redirects on. A link to the authorization endpoint of
 * the provider, which users trust, has a mistake in it: the refusal redirects the victim to the site of that client, before
 * the victim has seen a page or signed in (phishing).
 *
 * RFC 9700 section 4.11.2.
 */
import { authorizationRequests } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, returnLink } from '../authorization/browser.ts'
import { ownPages } from '../authorization/own-pages.ts'
import { redirectUri, request, setUp, trustedClients } from '../authorization/parties.ts'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'

const mistakes: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['a scope', { scope: 'groups' }, 'invalid_scope'],
  ['a response type', { response_type: 'token' }, 'unsupported_response_type'],
  ['a response mode', { response_mode: 'x' }, 'invalid_request'],
  ['a prompt', { prompt: 'x' }, 'invalid_request'],
  ['max_age', { max_age: 'x' }, 'invalid_request'],
  ['claims', { claims: 'x' }, 'invalid_request'],
  ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
  ['a code challenge', { code_challenge: 'x' }, 'invalid_request'],
]

describe.each(mistakes)('a request with a mistake in %s', (_name, more, error) => {
  const parameters = { ...request, ...more }

  test('shows a page with a link to the client first', async () => {
    const { browser, urlOf } = await setUp(ownPages)
    const page = await browser().open(urlOf(parameters))
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(returnLink(page)?.href).toMatch(redirectUri)
    if (error !== 'unsupported_response_type') expect(answer(page)).toMatchObject({ error, state: request.state })
  })

  test('is answered at the client after a sign-in, and for a trusted client', async () => {
    const { browser, urlOf, provider } = await setUp(ownPages)
    const user = browser()
    const form = hiddenFields(await user.open(urlOf(request)))
    await user.submit(`${provider.issuer}/test/sign-in`, { ...form, username: 'alice' })
    expect((await user.open(urlOf(parameters))).url.href).toMatch(redirectUri)
    const trusted = await setUp(ownPages, {}, { clients: trustedClients })
    expect((await trusted.browser().open(trusted.urlOf(parameters))).url.href).toMatch(redirectUri)
  })

  test('shows a page of a host that keeps everything to itself', async () => {
    const { provider } = await setUp(ownPages)
    const url = `https://id.example.com/login?${new URLSearchParams(parameters)}`
    const parsed = await provider.use(authorizationRequests).parse(new Request(url))
    if (!('response' in parsed)) throw new Error('accepted')
    expect([parsed.response.status, parsed.response.headers.get('location')]).toEqual([400, null])
    expect(returnLink({ html: await parsed.response.text() })?.href).toMatch(redirectUri)
  })
})

test('prompt=none never shows a page', async () => {
  const { browser, urlOf } = await setUp(ownPages)
  const page = await browser().open(urlOf({ ...request, prompt: 'none', scope: 'groups' }))
  expect(page.headers.get('location')).toMatch(redirectUri)
  expect(answer(page)).toMatchObject({ error: 'invalid_scope' })
})

test('a form to the client waits for its button', async () => {
  const { browser, urlOf } = await setUp(ownPages)
  const page = await browser().open(urlOf({ ...request, scope: 'groups', response_mode: 'form_post' }))
  expect(hiddenFields(page)).toMatchObject({ error: 'invalid_scope', state: request.state })
  expect(page.html).toContain('id="continue"')
  expect(page.html).not.toContain('<script')
})

test.each([
  ['a request that was not pushed', { client_id: 'strict' }],
  ['a request_uri that does not exist', { request_uri: `urn:ietf:params:oauth:request_uri:${'a'.repeat(43)}` }],
])('%s shows a page first', async (_name, more) => {
  const { browser, urlOf } = await setUpPush({}, ownPages)
  const page = await browser().open(urlOf({ ...request, ...more }))
  expect([page.status, page.headers.get('location')]).toEqual([400, null])
  expect(returnLink(page)?.href).toMatch(redirectUri)
})
