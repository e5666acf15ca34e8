// The documents of clients in use, as their vendors describe them, with invented hosts. Each goes through a sign-in.
import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createKey } from '../client-assertion/assertions.ts'
import { createHosts, resource, setUp } from './parties.ts'

const key = await createKey('RS256', { kid: 'one' })
const jwksUri = 'https://chat.example.com/jwks.json'

interface ClientCase {
  readonly document: Readonly<Record<string, unknown>>
  /** The redirect URI of the request. */
  readonly redirectUri: string
  readonly request?: Readonly<Record<string, string>>
}

const clients: Readonly<Record<string, ClientCase>> = {
  'a program on the command line, with an ephemeral port of localhost': {
    document: {
      client_id: 'https://cli.example.com/oauth/client-metadata',
      client_name: 'CLI',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://localhost:43117/callback',
  },
  'an editor, with a grant type and methods that the provider does not have': {
    document: {
      client_id: 'https://editor.example.com/oauth/client-metadata.json',
      client_name: 'Editor',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: ['http://127.0.0.1:33418/', 'https://editor.example.com/redirect'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:33418/',
  },
  'an editor with a private-use scheme beside https': {
    document: {
      client_id: 'https://cursor.example.com/client.json',
      client_name: 'Cursor',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://cursor.example.com/agents/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  'a client with https redirects, no scope, and a resource with a final slash': {
    document: {
      client_id: 'https://zed.example.com/oauth/client.json',
      client_name: 'Zed',
      client_uri: 'https://zed.example.com',
      logo_uri: 'https://zed.example.com/logo.png',
      redirect_uris: ['https://zed.example.com/native_app_signin', 'http://127.0.0.1/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: '',
    },
    redirectUri: 'http://127.0.0.1:50001/oauth/callback',
    request: { scope: '' },
  },
  'a program that names every method': {
    document: {
      client_id: 'https://codex.example.com/client.json',
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
    },
    redirectUri: 'http://127.0.0.1:1455/callback',
  },
  'a web application with a key, or none': {
    document: {
      client_id: 'https://chat.example.com/oauth/client.json',
      client_name: 'Chat',
      redirect_uris: ['https://chat.example.com/connector_platform_oauth_redirect'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks: { keys: [key.jwk] },
    },
    redirectUri: 'https://chat.example.com/connector_platform_oauth_redirect',
  },
}

async function signIn({ document, redirectUri, request = {} }: ClientCase, form: (f: Setup) => Promise<object>) {
  const clientId = String(document.client_id)
  const f = await setUp(createHosts({ [clientId]: { body: document }, [jwksUri]: { body: { keys: [key.jwk] } } }))
  const { code, location } = await f.authorize({ client_id: clientId, redirect_uri: redirectUri, ...request })
  expect(location.href.split('?')[0]).toBe(redirectUri)
  const more = (await form(f)) as Record<string, string>
  const first = await f.redeem(code, { client_id: clientId, redirect_uri: redirectUri, ...more })
  return { f, clientId, first }
}
type Setup = Awaited<ReturnType<typeof setUp>>

const assertionOf = (clientId: string, f: Setup) =>
  new SignJWT({ jti: String(Math.random()) })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(f.provider.issuer)
    .setIssuedAt(f.clock.now())
    .setExpirationTime(f.clock.now() + 60)
    .sign(key.privateKey)

describe('a client signs in with its document', () => {
  test.each(Object.entries(clients))('%s', async (_name, client) => {
    const { f, clientId, first } = await signIn(client, async () => ({}))
    expect(first.status).toBe(200)
    expect(decodeJwt(String(first.body.access_token))).toMatchObject({ client_id: clientId, aud: resource })
    expect(first.body.scope).toContain('mcp:tools')
    // All steps together have fetched it once.
    expect(f.requested).toEqual([clientId])
  })

  test('with its key, if it chooses to sign', async () => {
    const [client] = Object.values(clients).slice(-1)
    if (client === undefined) throw new TypeError('The case is missing')
    const { first } = await signIn(client, async (f) => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertionOf(String(client.document.client_id), f),
    }))
    expect(first.status).toBe(200)
  })

  test('and refreshes, with the scopes of the sign-in', async () => {
    const [client] = Object.values(clients)
    if (client === undefined) throw new TypeError('The case is missing')
    const { f, clientId, first } = await signIn(client, async () => ({}))
    const form = { grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token), client_id: clientId }
    const second = await f.post('token', form)
    expect([second.status, second.body.scope]).toEqual([200, 'mcp:tools offline_access'])
  })
})
