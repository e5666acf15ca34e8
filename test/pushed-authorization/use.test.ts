import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { nameOf, ownPages } from '../authorization/own-pages.ts'
import { redirectUri, request, web } from '../authorization/parties.ts'
import { withLatency } from '../support/latency.ts'
import { otherClient, parUrl, pushed, setUp, strict } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }
const isUnusable = { error: 'invalid_request_uri', state: request.state }
/** Clients repeat these parameters, so that refusals reach them (FAPI 2.0). */
const repeated = { redirect_uri: redirectUri, response_type: 'code', scope: request.scope, state: request.state }

describe('a request_uri', () => {
  test('12.5 leads to the request that was pushed', async () => {
    const { browser, pushedUrl, redeem } = await setUp()
    const response = answer(await browser().open(await pushedUrl()))
    expect(response).toMatchObject(isCode)
    const { status, body } = await redeem(response.code)
    expect([status, body.scope]).toEqual([200, request.scope])
  })

  test('12.5 the other parameters of the URL are ignored', async () => {
    const { browser, pushedUrl } = await setUp()
    const evil = {
      redirect_uri: 'https://evil.example/',
      state: 'another',
      scope: 'profile',
      response_mode: 'fragment',
    }
    const page = await browser().open(await pushedUrl(evil))
    expect(page.url.href).toMatch(`${redirectUri}?code=`)
    expect(answer(page)).toMatchObject(isCode)
  })

  test('12.5 can be opened again until the user has signed in', async () => {
    const { browser, pushedUrl, provider } = await setUp({}, ownPages)
    const [user, url] = [browser(), await pushedUrl()]
    expect(nameOf(await user.open(url))).toBe('sign-in')
    const page = await user.open(url)
    const form = { ...hiddenFields(page), username: 'alice' }
    expect(answer(await user.submit(`${provider.issuer}/test/sign-in`, form))).toMatchObject(isCode)
  })

  test('shows no page after its client was revoked', async () => {
    const { browser, pushedUrl, provider } = await setUp({}, ownPages)
    const [before, after] = [await pushedUrl(repeated), await pushedUrl(repeated)]
    expect(nameOf(await browser().open(before))).toBe('sign-in')
    await provider.revoke({ clientId: web[0] })
    expect(answer(await browser().open(after))).toMatchObject(isUnusable)
  })

  test('12.6 works once', async () => {
    const { browser, pushedUrl } = await setUp()
    const [user, url] = [browser(), await pushedUrl(repeated)]
    expect(answer(await user.open(url))).toMatchObject(isCode)
    expect(answer(await user.open(url))).toMatchObject(isUnusable)
  })

  test('12.6 shows no page after it was used', async () => {
    const { browser, pushedUrl, provider } = await setUp({}, ownPages)
    const [user, url] = [browser(), await pushedUrl(repeated)]
    const form = { ...hiddenFields(await user.open(url)), username: 'alice' }
    expect(answer(await user.submit(`${provider.issuer}/test/sign-in`, form))).toMatchObject(isCode)
    expect(answer(await browser().open(url))).toMatchObject(isUnusable)
  })

  test('12.6 of two pages of one request, one gets a code', async () => {
    const { browser, pushedUrl, provider } = await setUp({}, ownPages)
    const [user, url] = [browser(), await pushedUrl()]
    const pages = [await user.open(url), await user.open(url)]
    const responses = []
    for (const page of pages) {
      const form = { ...hiddenFields(page), username: 'alice' }
      responses.push(answer(await user.submit(`${provider.issuer}/test/sign-in`, form)))
    }
    expect(responses).toMatchObject([isCode, isUnusable])
  })

  test('12.6 of 20 concurrent visits, one gets a code', async () => {
    const { browser, pushedUrl } = await setUp({}, undefined, { storage: withLatency(mapDriver()) })
    const url = await pushedUrl(repeated)
    const responses = await Promise.all(Array.from({ length: 20 }, async () => answer(await browser().open(url))))
    expect(responses.filter(({ code }) => code !== undefined)).toHaveLength(1)
    expect(responses.filter(({ error }) => error === 'invalid_request_uri')).toHaveLength(19)
  })

  test.each([
    ['just before its end', 59, isCode],
    ['at its end', 60, isUnusable],
  ])('12.7 %s', async (_when, seconds, expected) => {
    const { browser, pushedUrl, clock } = await setUp()
    const url = await pushedUrl(repeated)
    clock.advance(seconds)
    expect(answer(await browser().open(url))).toMatchObject(expected)
  })

  test('12.7 a user who opened it in time can take longer to sign in', async () => {
    const { browser, pushedUrl, clock, provider } = await setUp({}, ownPages)
    const user = browser()
    const page = await user.open(await pushedUrl())
    clock.advance(1000)
    const form = { ...hiddenFields(page), username: 'alice' }
    expect(answer(await user.submit(`${provider.issuer}/test/sign-in`, form))).toMatchObject(isCode)
  })

  test('12.8 of another client is refused', async () => {
    const { browser, pushedUrl } = await setUp()
    expect(answer(await browser().open(await pushedUrl({ ...repeated, client_id: otherClient[0] })))).toMatchObject(
      isUnusable,
    )
  })

  test('12.8 without a known redirect URI, the refusal is a page', async () => {
    const { browser, pushedUrl } = await setUp()
    for (const parameters of [{}, { redirect_uri: 'https://evil.example/' }]) {
      const { status, headers } = await browser().open(await pushedUrl({ ...parameters, client_id: otherClient[0] }))
      expect([status, headers.get('location')]).toEqual([400, null])
    }
  })

  test.each([
    ['never issued', `urn:ietf:params:oauth:request_uri:${'a'.repeat(43)}`, 'invalid_request_uri'],
    ['of another form', 'urn:ietf:params:oauth:request_uri:a', 'request_uri_not_supported'],
    ['of a web server', 'https://client.example.com/request.jwt', 'request_uri_not_supported'],
  ])('12.8 %s is refused', async (_case, uri, error) => {
    const { browser, urlOf } = await setUp()
    const { url } = await browser().open(urlOf({ ...request, request_uri: uri }))
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ error, state: request.state })
  })
})

describe('a client that must push its requests', () => {
  test.each([
    ['by its configuration', {}, strict[0]],
    ['by the option of the provider', { required: true }, request.client_id],
  ])('12.9 %s, is refused without', async (_case, options, clientId) => {
    const { browser, urlOf } = await setUp(options)
    const page = await browser().open(urlOf({ ...request, client_id: clientId }))
    expect(answer(page)).toMatchObject({ error: 'invalid_request', state: request.state })
  })

  test('12.9 gets a code for a pushed request', async () => {
    const { browser, pushedUrl } = await setUp()
    const page = await browser().open(await pushedUrl({ client_id: strict[0] }, pushed, strict))
    expect(answer(page)).toMatchObject(isCode)
  })
})

test('12.1 the path of its endpoint is configurable', async () => {
  const { provider } = await setUp({}, undefined, { endpoints: { pushedAuthorization: '/par' } })
  expect((await provider.fetch(new Request(parUrl, { method: 'POST' }))).status).toBe(404)
  expect(provider.metadata.pushed_authorization_request_endpoint).toBe('https://id.example.com/par')
})
