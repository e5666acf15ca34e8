import { createProvider, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const start = (more: object) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [],
    plugins: [clientCredentials()],
    ...more,
  })

const refusal = (message: unknown) => ({ name: 'TypeError', message })

describe('the issuer', () => {
  // OpenID Connect Discovery section 3 and RFC 8414 section 2: no query, no fragment. `iss` is compared exactly.
  test.each([
    'id.example.com',
    '',
    'https://',
    'ftp://id.example.com',
    'javascript:alert(1)',
    'https://id.example.com?tenant=a',
    'https://id.example.com#top',
    'https://user:password@id.example.com',
  ])('rejects %j', async (issuer) => {
    const message = 'createProvider(): issuer must be an absolute http or https URL without a query, fragment or user'
    await expect(start({ issuer })).rejects.toMatchObject(refusal(message))
  })

  // What the URL parser tolerates would appear in every token as `iss`, and in `aud` with `/resources` appended.
  test.each([
    ['an empty query', 'https://id.example.com?'],
    ['an empty fragment', 'https://id.example.com#'],
    ['a password without a user', 'https://:password@id.example.com'],
    ['leading white space', ' https://id.example.com'],
    ['a trailing line break', 'https://id.example.com\n'],
    ['a space inside', 'https://id.example.com/a b'],
    ['no slashes after the scheme', 'https:id.example.com'],
    ['a backslash', 'https://id.example.com\\tenant'],
  ])('rejects an issuer with %s', async (_what, issuer) => {
    await expect(start({ issuer })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^createProvider\(\): issuer must /u)),
    )
  })

  // RFC 8414 section 2. A host name that only starts like localhost is another machine.
  test.each(['http://id.example.com', 'http://10.0.0.1:5000', 'http://127.0.0.1.example.com', 'http://localhost.evil'])(
    'rejects %j: http, and not this machine',
    async (issuer) => {
      await expect(start({ issuer })).rejects.toMatchObject(
        refusal(
          'createProvider(): issuer must use https; http is allowed only for loopback hosts (127.0.0.1, [::1], localhost)',
        ),
      )
    },
  )

  test.each(['https://id.example.com/', 'https://id.example.com/tenant/'])('rejects %j', async (issuer) => {
    await expect(start({ issuer })).rejects.toMatchObject(refusal('createProvider(): issuer must not end with a slash'))
  })

  test.each([
    'https://id.example.com',
    'https://id.example.com/tenant',
    'http://localhost:5000',
    'http://127.0.0.1:5000',
    'http://[::1]:5000',
    'http://id.localhost',
  ])('takes %j exactly', async (issuer) => {
    const { metadata } = await start({ issuer })
    expect(metadata).toMatchObject({ issuer, token_endpoint: `${issuer}/connect/token` })
  })
})

describe('the path of an endpoint', () => {
  test.each(['oauth/token', '/', '', '/token/', '/token?x=1', '/token#x', '/to ken', 'https://id.example.com/token'])(
    'rejects %j with a readable message, not a regular expression',
    async (token) => {
      await expect(start({ endpoints: { token } })).rejects.toMatchObject(
        refusal('createProvider(): endpoints.token must be true, false, or a path such as /oauth/token'),
      )
    },
  )

  // `new Request()` resolves dot segments, so no request could ever reach such an endpoint.
  test.each(['/a/../token', '/./token', '/..'])('rejects %j: no request has such a path', async (token) => {
    await expect(start({ endpoints: { token } })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^createProvider\(\): endpoints\.token /u)),
    )
  })

  test.each([
    ['both moved', { token: '/oauth', userinfo: '/oauth' }],
    ['one moved to the default path of another', { token: '/connect/userinfo' }],
  ])('belongs to one endpoint only: %s', async (_title, endpoints) => {
    await expect(start({ endpoints })).rejects.toMatchObject(
      refusal(expect.stringMatching(/^endpoints: \w+ and \w+ have the same path \//u)),
    )
  })

  test('may be that of a disabled endpoint', async () => {
    const provider = await start({ endpoints: { token: '/connect/userinfo', userinfo: false } })
    expect(provider.route(new Request('https://id.example.com/connect/userinfo'))).toBe(provider.handlers.token)
  })
})
