/**
 * Attack: an attacker sends a victim a link to the authorization endpoint that leads to a page of the attacker,
 * or takes the code there (RFC 9700 section 4.11). Every parameter is tried, with every kind of value that a URL parser
 * or a browser could misread.
 */
import { describe, expect, test } from 'vitest'
import { clients, redirectUri, request, setUp } from '../authorization/parties.ts'

const evil = [
  'https://evil.example',
  'https://evil.example/callback',
  '//evil.example',
  'https:evil.example',
  'https:\\\\evil.example',
  'https://client.example.com.evil.example/callback',
  'https://client.example.com@evil.example/callback',
  'https://client.example.com:password@evil.example/callback',
  'https://evil.example\\@client.example.com/callback',
  'https://client.example.com/callback/../../evil',
  'https://client.example.com/callback%2f..%2fevil',
  'https://client.example.com/callback?next=https://evil.example',
  'https://client.example.com/callback#@evil.example',
  'https://client.example.com:8443/callback',
  'http://client.example.com/callback',
  'HTTPS://CLIENT.EXAMPLE.COM/callback',
  'https://client.example.com/CALLBACK',
  ' https://client.example.com/callback',
  'https://client.example.com/callback ',
  'https://client.example.com/call\tback',
  'https://client.example.com/callback\r\nLocation: https://evil.example',
  'https://client.example.com/callback\0.evil.example',
  'https://сlient.example.com/callback',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'http://127.0.0.1@evil.example/callback',
  'http://127.0.0.1:80@evil.example/callback',
  'http://127.0.0.1.evil.example/callback',
  'http://127.0.0.1:99999/callback',
  'com.example.app://evil.example/callback',
]

const names = [
  'redirect_uri',
  'client_id',
  'response_type',
  'response_mode',
  'state',
  'nonce',
  'scope',
  'prompt',
  'max_age',
  'display',
  'ui_locales',
  'claims_locales',
  'login_hint',
  'id_token_hint',
  'acr_values',
  'claims',
  'request',
  'request_uri',
  'registration',
  'code_challenge',
  'resource',
  'post_logout_redirect_uri',
  'interaction',
  'next',
]

const isOurs = (uri: URL): boolean =>
  uri.href.startsWith(`${redirectUri}?`) ||
  uri.href.startsWith(`${redirectUri}#`) ||
  uri.origin === 'https://id.example.com'

type Parties = Awaited<ReturnType<typeof setUp>>

async function targetsOf(parameters: Readonly<Record<string, string>>, { provider, urlOf }: Parties) {
  const post = { method: 'POST', body: new URLSearchParams(parameters) }
  const requests = [new Request(urlOf(parameters)), new Request(`${provider.issuer}/connect/authorize`, post)]
  const responses = await Promise.all(requests.map((sent) => provider.fetch(sent)))
  return responses.flatMap((response) => response.headers.get('location') ?? [])
}

describe('an open redirect', () => {
  test.each(names)('no value of %s leads to another site', async (name) => {
    const parties = await setUp()
    for (const value of evil) {
      for (const location of await targetsOf({ ...request, [name]: value }, parties)) {
        expect(isOurs(new URL(location)), `${name}=${value} leads to ${location}`).toBe(true)
      }
    }
  })

  test.each(evil)('a redirect_uri %j of a native application leads nowhere', async (uri) => {
    const spa = { ...request, client_id: 'spa', redirect_uri: uri, prompt: 'x' }
    const { browser, urlOf } = await setUp()
    const { status, headers } = await browser().open(urlOf(spa))
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('a redirect_uri of another client leads nowhere', async () => {
    const otherClient = { ...clients[0], clientId: 'other', redirectUris: ['https://other.example.com/callback'] }
    const { browser, urlOf } = await setUp(undefined, {}, { clients: [...clients, otherClient] })
    const { status, headers } = await browser().open(
      urlOf({ ...request, redirect_uri: 'https://other.example.com/callback', prompt: 'none' }),
    )
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('the resume URL leads to no URL of the request', async () => {
    const { browser, provider } = await setUp()
    for (const value of evil) {
      const query = new URLSearchParams({ interaction: value, ticket: value, redirect_uri: value, state: value })
      const page = await browser().open(`${provider.issuer}/connect/authorize/resume?${query}`)
      expect([page.status, page.headers.get('location')]).toEqual([400, null])
    }
  })

  test('the header Host changes no URL', async () => {
    const { provider, urlOf } = await setUp({ interact: async ({ suspend }) => ({ html: (await suspend()).id }) })
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
    const url = urlOf(request).replace('id.example.com', 'evil.example')
    const posted = await provider.fetch(
      new Request(url.split('?')[0] ?? '', { method: 'POST', headers, body: new URLSearchParams(request) }),
    )
    expect(posted.headers.get('location')).toMatch(/^https:\/\/id\.example\.com\/connect\/authorize\?/u)
    const response = await provider.fetch(new Request(`${url}&prompt=none`, { headers }))
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('iss')).toBe(provider.issuer)
  })
})
