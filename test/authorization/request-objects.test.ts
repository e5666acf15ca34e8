import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from './browser.ts'
import { request, setUp } from './parties.ts'

test.each([
  ['request', 'eyJhbGciOiJub25lIn0.e30.', 'request_not_supported'],
  ['request_uri', 'https://client.example.com/request#x', 'request_uri_not_supported'],
  ['request_uri', 'urn:ietf:params:oauth:request_uri:x', 'request_uri_not_supported'],
  ['registration', '{}', 'registration_not_supported'],
])('11.8 refuses the parameter %s (%s) with its own code', async (name, value, error) => {
  const { browser, urlOf } = await setUp()
  const page = await browser().open(urlOf({ ...request, [name]: value }))
  expect(answer(page)).toMatchObject({ error, state: request.state })
})

/** An unsigned request object. */
const objectOf = (claims: object): string =>
  [{ alg: 'none' }, claims].map((part) => `${Buffer.from(JSON.stringify(part)).toString('base64url')}.`).join('')

describe('a refused request object', () => {
  const { state: _, ...outside } = request

  test('11.8 is refused with its own state, in its own response mode', async () => {
    const { browser, urlOf, provider } = await setUp()
    const object = objectOf({ ...request, state: 'inside', response_mode: 'form_post' })
    const page = await browser().open(urlOf({ ...outside, request: object }))
    const error_description = expect.any(String)
    const { issuer: iss } = provider
    expect(hiddenFields(page)).toEqual({ error: 'request_not_supported', error_description, state: 'inside', iss })
    expect(page.html).toContain(`<form method="post" action="${request.redirect_uri}">`)
  })

  test('11.8 does not replace parameters, least of all the redirect URI', async () => {
    const more = { state: 'inside', response_mode: 'query', redirect_uri: 'https://attacker.example.com/' }
    const { browser, urlOf } = await setUp()
    const url = urlOf({ ...request, response_mode: 'fragment', request: objectOf(more) })
    const { href } = (await browser().open(url)).url
    expect(href.startsWith(`${request.redirect_uri}#error=request_not_supported`)).toBe(true)
    expect(href).toContain(`state=${request.state}`)
  })

  test.each([
    ['is no JWT', 'x'],
    ['is encrypted', 'a.b.c.d.e'],
    ['is no object', `${objectOf([])}`],
    ['has members of other types', objectOf({ state: 7, response_mode: ['form_post'] })],
    ['has an unknown response mode', objectOf({ response_mode: 'web_message' })],
  ])('11.8 is refused by the query if it %s', async (_name, object) => {
    const { browser, urlOf } = await setUp()
    const parameters = answer(await browser().open(urlOf({ ...outside, request: object })))
    expect(parameters).toMatchObject({ error: 'request_not_supported' })
    expect(parameters).not.toHaveProperty('state')
  })
})

test('11.8 discovery states that request objects are not supported', async () => {
  const { provider } = await setUp()
  expect(provider.metadata).toMatchObject({
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
})
