/**
 * Attack: a stranger sends wrong requests in the name of a client, and reads from the page of the refusal what the client has
 * registered: its redirect URIs, also those of test systems, its grant types and its scopes. Only the page of an issuer
 * without TLS on this machine shows them, to the developer. The stranger reaches such an issuer through a proxy, a tunnel or
 * an open port.
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

/** How a request arrives. */
interface Arrival {
  readonly from?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const pageOf = async (issuer: string, pages: typeof plainPages, changed: object, { from, headers }: Arrival = {}) => {
  const scopes = [{ name: 'concealed:scope' }, { name: 'api1' }]
  const f = await setUp(
    signIn({ pages: ready }),
    { pages },
    { issuer, clients: known, scopes, users: { authenticate: () => undefined } },
  )
  const url = f.urlOf({ ...request, ...changed } as Record<string, string>)
  const response = await f.provider.fetch(new Request(url, headers && { headers }), { clientAddress: from })
  const html = await response.text()
  expect(html).toContain('id="reason"')
  return html
}

const local = { host: '127.0.0.1:8484' }
const arrivals: readonly (readonly [string, boolean, Arrival])[] = [
  ['from a program without an adapter', true, {}],
  ['from this machine', true, { from: '127.0.0.1', headers: local }],
  ['from this machine, by IPv6', true, { from: '::1', headers: { host: '[::1]:8484' } }],
  ['from this machine, to a tenant', true, { from: '127.0.0.1', headers: { host: 'acme.localhost:8484' } }],
  ['from another machine', false, { from: '192.0.2.1', headers: local }],
  ['from a neighbour in a private network', false, { from: '10.0.0.1', headers: local }],
  ['to the name of a tunnel', false, { from: '127.0.0.1', headers: { host: 'abc.tunnel.example' } }],
  ['to a name that begins like this machine', false, { from: '127.0.0.1', headers: { host: 'localhost.example' } }],
  ['to a host with a user', false, { from: '127.0.0.1', headers: { host: 'abc.example@localhost' } }],
  ['to a host with a path', false, { from: '127.0.0.1', headers: { host: 'localhost/abc' } }],
  ['to no host', false, { from: '127.0.0.1', headers: { host: '' } }],
  ['to such a name, from an unknown address', false, { headers: { host: 'abc.tunnel.example' } }],
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'].flatMap((name) =>
    ['127.0.0.1', undefined].map(
      (from) =>
        [`with ${name}, from ${from}`, false, { from, headers: { ...local, [name]: 'x' } }] satisfies [
          string,
          boolean,
          Arrival,
        ],
    ),
  ),
]

test.each(arrivals)('a request %s: the page shows what is registered: %s', async (_name, isShown, arrival) => {
  for (const [, changed] of refusals) {
    const html = await pageOf('http://127.0.0.1:8484', ready, changed, arrival)
    expect(html.includes('internal')).toBe(isShown)
    expect(html.includes('concealed')).toBe(isShown)
  }
})

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
