/**
 * Attack: a stranger sends wrong requests in the name of a client, and reads from the page of the refusal what the client has
 * registered: its redirect URIs, also those of test systems, its grant types and its scopes. Only the page of an issuer
 * without TLS on this machine shows them, to the developer.
 */

import { createPages } from '@grantry/pages'
import { plainPages } from '@grantry/plugins/authorization-endpoint'
import { signIn } from '@grantry/plugins/sign-in'
import { expect, test } from 'vitest'
import { clients, request, setUp } from '../authorization/parties.ts'

const ready = createPages({ locales: ['en'] })
const secret = 'https://internal.client.example.com/concealed'
const known = [
  {
    ...clients[0],
    clientId: 'web',
    redirectUris: [request.redirect_uri, secret],
    scopes: ['openid', 'concealed:scope'],
  },
]

const refusals: readonly (readonly [string, object])[] = [
  ['another redirect URI', { redirect_uri: 'https://client.example.com/calback' }],
  ['an unknown response type', { response_type: 'token' }],
  ['an unknown scope', { scope: 'openid api1', prompt: 'x' }],
]

const pageOf = async (issuer: string, pages: typeof plainPages, changed: object) => {
  const scopes = [{ name: 'concealed:scope' }, { name: 'api1' }]
  const f = await setUp(
    signIn({ pages: ready }),
    { pages },
    { issuer, clients: known, scopes, users: { authenticate: () => undefined } },
  )
  const page = await f.browser().open(f.urlOf({ ...request, ...changed } as Record<string, string>))
  expect(page.html).toContain('id="reason"')
  return page.html
}

const issuers = [
  'https://id.example.com',
  'https://localhost',
  'https://127.0.0.1:8443',
  'https://http.localhost/http:',
]

test.each(issuers.flatMap((issuer) => refusals.map((refusal) => [issuer, ...refusal] as const)))(
  'at %s, the page about %s shows nothing that the client has registered',
  async (issuer, _name, changed) => {
    for (const pages of [ready, plainPages]) {
      const html = await pageOf(issuer, pages, changed)
      for (const word of ['class="registered"', 'internal', 'concealed', 'refresh_token'])
        expect(html).not.toContain(word)
    }
  },
)

test.each(refusals)(
  'in development, the page about %s shows the developer what is registered',
  async (_name, changed) => {
    for (const pages of [ready, plainPages]) {
      const html = await pageOf('http://127.0.0.1:8484', pages, changed)
      expect(html).toContain(`redirectUris: ${request.redirect_uri} ${secret}`)
      expect(html).toContain('grantTypes: authorization_code refresh_token')
      expect(html).toContain('scopes: openid concealed:scope')
      expect(html).not.toContain('calback')
      expect(html).not.toMatch(/sha256|secrets/u)
    }
  },
)

test('in development, the page about an unknown client shows nothing of others', async () => {
  const html = await pageOf('http://127.0.0.1:8484', ready, { client_id: 'wbe' })
  expect(html).not.toContain('registered')
  expect(html).not.toContain('internal')
})
