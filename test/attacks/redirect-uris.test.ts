/**
 * Attack: a redirect URI that runs a script, reads a local file, or sends the code to another host than the registered
 * one. A browser that follows `javascript:` runs the code in the origin of the login page; a loose match of the port is
 * an open redirector.
 *
 * RFC 6749 section 3.1.2, RFC 8252 sections 7.1 and 7.3, RFC 9700 section 2.1.
 */

import { type ClientOptions, createProvider, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { proofKey } from '@grantry/plugins/proof-key'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture, web } from '../support/fixture.ts'

const client: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of(web[1]) }],
  grantTypes: ['authorization_code'],
  scopes: ['openid'],
}

const start = (more: Partial<ClientOptions>) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [{ ...client, redirectUris: ['https://web.example.com/callback'], ...more }],
    plugins: [authorizationCode(), proofKey()],
  })

const dangerous = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://web.example.com/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'about:blank',
  'blob:https://web.example.com/1c2d',
  'file:///etc/passwd',
  'filesystem:https://web.example.com/temporary/x',
  'view-source:https://web.example.com/callback',
  'ws://web.example.com/callback',
  'ftp://web.example.com/callback',
  'mailto:thief@example.com',
  'urn:ietf:wg:oauth:2.0:oob',
  'app:/callback',
  'javascript://web.example.com/%0aalert(1)//',
  'VBScript://x',
  'data://text/html,x',
  'intent://web.example.com#x',
  'intent://web.example.com/',
  'ms-msdt://x',
  'ms-settings://x',
  'search-ms://x',
  'x-apple-helpviewer://x',
  'chrome-extension://abcdefgh/x',
  'moz-extension://x/y',
  'smb://thief.example.com/x',
  'ssh://thief.example.com',
  'applescript://com.apple.scripteditor?action=new',
  'itms-services://?action=download-manifest',
  'x-apple.systempreferences:com.apple.preference.security',
  'microsoft-edge://thief.example.com',
  'googlechrome://thief.example.com',
  'afp://thief.example.com/x',
  'help://x',
  'steam://run/1',
  'cursor:/callback',
  'https:web.example.com/callback',
  'https:\\\\web.example.com\\callback',
  'https://web.example.com/call back',
  'https://web.example.com/callback\r\nset-cookie: a=b',
  'https://web.example.com/callback#fragment',
  'https://web.example.com/callback#',
  'https://web.example.com@thief.example.com/callback',
  'http://localhost:3000@thief.example.com/callback',
  'cursor://user@callback',
]

describe('a redirect URI that a browser must not follow', () => {
  test.each(dangerous)('rejects %j at start', async (uri) => {
    await expect(start({ redirectUris: ['https://web.example.com/callback', uri] })).rejects.toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(/^clients\[0\] \("web"\): redirectUris\[1\] must /u),
    })
  })

  test.each(dangerous)('rejects %j at start for a post-logout page', async (uri) => {
    await expect(start({ postLogoutRedirectUris: [uri] })).rejects.toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(/^clients\[0\] \("web"\): postLogoutRedirectUris\[0\] must /u),
    })
  })

  test.each(dangerous)('creates no code for %j of a client store', async (uri) => {
    const stored = { ...client, redirectUris: [uri, 'https://web.example.com/callback'] }
    const f = await fixture({ clients: { find: (id) => (id === 'web' ? { ...stored } : undefined) } })
    await expect(f.code({ redirectUri: uri, scopes: ['openid'] })).rejects.toMatchObject({
      code: 'invalid_request',
      // The reason for which a host does not redirect.
      details: { reason: 'redirect_uri_mismatch' },
    })
  })

  test('one such row of a client store does not affect the other redirect URIs of the client', async () => {
    const stored = { ...client, redirectUris: ['javascript:alert(1)', 'https://web.example.com/callback'] }
    const f = await fixture({ clients: { find: () => ({ ...stored }) } })
    const code = await f.code({ scopes: ['openid'] })
    const redirect_uri = 'https://web.example.com/callback'
    const { status } = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri }, web)
    expect(status).toBe(200)
  })

  test.each([
    'https://web.example.com/callback',
    'https://web.example.com',
    'https://web.example.com/callback?tenant=a&next=%2F',
    'HTTPS://web.example.com/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:5001/callback',
    'http://localhost:3000/callback',
    'com.example.app:/callback',
    'com.example.app://callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'oc://ios.owncloud.com',
  ])('accepts %j', async (uri) => {
    await expect(start({ redirectUris: [uri] })).resolves.toBeDefined()
  })

  test('the error describes what to write', async () => {
    await expect(start({ redirectUris: ['app:/callback'] })).rejects.toMatchObject({
      message:
        'clients[0] ("web"): redirectUris[0] must be an http or https URL, or have a private-use scheme such as com.example.app:/callback (RFC 8252 section 7.1) or app://callback',
    })
  })
})

describe('an origin of an application', () => {
  test.each(['capacitor://localhost', 'ionic://localhost', 'tauri://localhost'])(
    '%s can be allowed',
    async (origin) => {
      const listed = clients.map((client) => ({ ...client, allowedCorsOrigins: [origin] }))
      const { provider } = await fixture({ clients: listed })
      const { headers } = await provider.fetch(
        new Request(`${provider.issuer}/connect/token`, { method: 'POST', headers: { origin } }),
      )
      expect(headers.get('access-control-allow-origin')).toBe(origin)
    },
  )

  test.each(['capacitor://localhost/', 'capacitor://evil.example.com', 'javascript://localhost', 'null'])(
    '%s cannot be allowed',
    async (origin) => {
      await expect(start({ allowedCorsOrigins: [origin] })).rejects.toThrow('allowedCorsOrigins[0] must be an origin')
    },
  )
})

describe('a loopback redirect URI', () => {
  const registered = [
    'http://127.0.0.1/cb',
    'http://[::1]:4000/cb?tenant=a',
    'http://localhost:3000/cb',
    'https://127.0.0.1/tls',
    'http://127.0.0.1',
  ]

  async function native() {
    return fixture({ clients: [...clients, { ...client, clientId: 'native', redirectUris: registered }] })
  }

  const matches = [
    'http://127.0.0.1/cb',
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:80/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb?tenant=a',
    'http://[::1]:51234/cb?tenant=a',
    'http://127.0.0.1:51234',
    'http://localhost:3000/cb',
    'http://localhost:51234/cb',
    'http://localhost/cb',
    'https://127.0.0.1/tls',
  ]
  test.each(matches)('3.92 %s is registered, with any port', async (redirectUri) => {
    const { code } = await native()
    await expect(code({ clientId: 'native', redirectUri, scopes: ['openid'] })).resolves.toBeDefined()
  })

  const others = [
    ['another host with the same beginning', 'http://127.0.0.1.evil.example.com/cb'],
    ['another host after the port', 'http://127.0.0.1:80.evil.example.com/cb'],
    ['another host after a user', 'http://127.0.0.1:80@evil.example.com/cb'],
    ['another host after a user without a port', 'http://127.0.0.1@evil.example.com/cb'],
    ['another host after an IPv6 user', 'http://[::1]:80@evil.example.com/cb?tenant=a'],
    ['a backslash that browsers treat as a slash', 'http://127.0.0.1:80\\@evil.example.com/cb'],
    ['a user', 'http://user@127.0.0.1:80/cb'],
    ['another path', 'http://127.0.0.1:80/cb/../other'],
    ['a longer path', 'http://127.0.0.1:80/cb/'],
    ['a query', 'http://127.0.0.1:80/cb?next=x'],
    ['a fragment', 'http://127.0.0.1:80/cb#x'],
    ['another query', 'http://[::1]:80/cb?tenant=b'],
    ['no query', 'http://[::1]:80/cb'],
    ['a path where none is registered', 'http://127.0.0.1:80/'],
    ['port 0', 'http://127.0.0.1:0/cb'],
    ['a port above the maximum', 'http://127.0.0.1:65536/cb'],
    ['a port of six digits', 'http://127.0.0.1:800000/cb'],
    ['a port with a leading zero', 'http://127.0.0.1:080/cb'],
    ['an empty port', 'http://127.0.0.1:/cb'],
    ['a port that is not a number', 'http://127.0.0.1:8a/cb'],
    ['another scheme', 'https://127.0.0.1:443/cb'],
    ['another port under TLS', 'https://127.0.0.1:8443/tls'],
    ['another case of the scheme', 'HTTP://127.0.0.1:80/cb'],
    ['another path of localhost', 'http://localhost:3001/other'],
    ['localhost in capitals', 'http://LOCALHOST/cb'],
    ['a name below localhost', 'http://a.localhost/cb'],
    ['a name that starts with localhost', 'http://localhost.evil.example.com/cb'],
    ['localhost as a user', 'http://localhost:80@evil.example.com/cb'],
    ['another loopback address', 'http://127.0.0.2:80/cb'],
    ['a short form of the address', 'http://127.1:80/cb'],
    ['a number as the address', 'http://2130706433:80/cb'],
    ['the other address family', 'http://[::1]:80/cb'],
    ['a long form of the IPv6 address', 'http://[0:0:0:0:0:0:0:1]:80/cb?tenant=a'],
    ['the unspecified address', 'http://0.0.0.0:80/cb'],
    ['a line break', 'http://127.0.0.1:80/cb\n'],
  ] as const
  test.each(others)('3.92 does not match %s: %s', async (_what, redirectUri) => {
    const { code } = await native()
    await expect(code({ clientId: 'native', redirectUri, scopes: ['openid'] })).rejects.toMatchObject({
      details: { reason: 'redirect_uri_mismatch' },
    })
  })

  test('3.92 the token endpoint requires the exact port that the code was created for', async () => {
    const f = await native()
    const redirectUri = 'http://127.0.0.1:51234/cb'
    const code = await f.code({ clientId: 'native', redirectUri, scopes: ['openid'] })
    const redeem = (redirect_uri: string) =>
      f.post('token', { grant_type: 'authorization_code', code, redirect_uri }, ['native', web[1]])
    for (const wrong of ['http://127.0.0.1:51235/cb', 'http://127.0.0.1/cb']) {
      expect(await redeem(wrong)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    }
    expect(await redeem(redirectUri)).toMatchObject({ status: 200 })
  })
})
