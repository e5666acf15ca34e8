import { createProvider } from '@grantry/core'
import { mapDriver } from '@grantry/core/testing'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { describe, expect, test } from 'vitest'

const start = (more: object) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: { generate: 'ES256' },
    storage: mapDriver(),
    clients: [],
    plugins: [clientCredentials()],
    ...more,
  })

const refusal = (message: unknown) => ({ name: 'TypeError', message })

describe('the issuer', () => {
  // OpenID Connect Discovery section 3 and RFC 8414 section 2: no query, no fragment. `iss` is compared to the letter.
  test.each([
    'id.example.com',
    '',
    'https://',
    'ftp://id.example.com',
    'javascript:alert(1)',
    'https://id.example.com?tenant=a',
    'https://id.example.com#top',
    'https://user:password@id.example.com',
  ])('%j is refused', async (issuer) => {
    const message = 'createProvider(): issuer must be an absolute http or https URL without a query, fragment or user'
    await expect(start({ issuer })).rejects.toMatchObject(refusal(message))
  })

  // What the URL parser forgives stands in every token as `iss`, and in `aud` with `/resources` behind it.
  test.each([
    ['an empty query', 'https://id.example.com?'],
    ['an empty fragment', 'https://id.example.com#'],
    ['a password without a user', 'https://:password@id.example.com'],
    ['white space before', ' https://id.example.com'],
    ['a new line behind', 'https://id.example.com\n'],
    ['a space inside', 'https://id.example.com/a b'],
    ['no slashes behind the scheme', 'https:id.example.com'],
    ['a backslash', 'https://id.example.com\\tenant'],
  ])('with %s is refused', async (_what, issuer) => {
    await expect(start({ issuer })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^createProvider\(\): issuer must /u)),
    )
  })

  // RFC 8414 section 2. What only begins like this machine is another one.
  test.each(['http://id.example.com', 'http://10.0.0.1:5000', 'http://127.0.0.1.example.com', 'http://localhost.evil'])(
    '%j is refused: it is http and not this machine',
    async (issuer) => {
      await expect(start({ issuer })).rejects.toMatchObject(
        refusal(
          'createProvider(): issuer must use https; http is allowed only for loopback hosts (127.0.0.1, [::1], localhost)',
        ),
      )
    },
  )

  test.each(['https://id.example.com/', 'https://id.example.com/tenant/'])('%j is refused', async (issuer) => {
    await expect(start({ issuer })).rejects.toMatchObject(refusal('createProvider(): issuer must not end with a slash'))
  })

  test.each([
    'https://id.example.com',
    'https://id.example.com/tenant',
    'http://localhost:5000',
    'http://127.0.0.1:5000',
    'http://[::1]:5000',
    'http://id.localhost',
  ])('%j is taken to the letter', async (issuer) => {
    const { metadata } = await start({ issuer })
    expect(metadata).toMatchObject({ issuer, token_endpoint: `${issuer}/connect/token` })
  })
})

describe('the path of an endpoint', () => {
  test.each(['oauth/token', '/', '', '/token/', '/token?x=1', '/token#x', '/to ken', 'https://id.example.com/token'])(
    '%j is refused in words, not as a regular expression',
    async (token) => {
      await expect(start({ endpoints: { token } })).rejects.toMatchObject(
        refusal('createProvider(): endpoints.token must be true, false, or a path such as /oauth/token'),
      )
    },
  )

  // `new Request()` resolves dot segments, so no request could ever reach such an endpoint.
  test.each(['/a/../token', '/./token', '/..'])('%j is refused: no request has such a path', async (token) => {
    await expect(start({ endpoints: { token } })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^createProvider\(\): endpoints\.token /u)),
    )
  })

  test.each([
    ['both moved', { token: '/oauth', userinfo: '/oauth' }],
    ['one moved onto the usual path of another', { token: '/connect/userinfo' }],
  ])('is that of one endpoint only: %s', async (_title, endpoints) => {
    await expect(start({ endpoints })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^endpoints: \w+ and \w+ have the same path \//u)),
    )
  })

  test('may be that of an endpoint that is off', async () => {
    const provider = await start({ endpoints: { token: '/connect/userinfo', userinfo: false } })
    expect(provider.route(new Request('https://id.example.com/connect/userinfo'))).toBe(provider.handlers.token)
  })
})
