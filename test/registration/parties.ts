import { createHash } from 'node:crypto'
import type { JsonObject } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type RegistrationOptions, registration, registrations } from '@grantry/plugins/registration'
import { createTestProvider, read, type TestProviderOptions } from '@grantry/testing'
import { hostSignIn } from '../authorization/parties.ts'

export const issuer = 'https://id.example.com'
export const redirectUri = 'https://app.example.com/callback'
const verifier = 'a'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

/** What most clients send. */
export const metadata = {
  client_name: 'The application',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}

interface Sent {
  readonly method?: string
  readonly token?: string | undefined
  readonly body?: unknown
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A provider at which anyone can register clients. */
export async function setUp(options: Partial<RegistrationOptions> = {}, more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({
    issuer,
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      clientCredentials(),
      clientAssertion(),
      authorizationEndpoint({ interaction: hostSignIn }),
      registration({
        scopes: ['openid', 'offline_access', 'api1'],
        authenticationMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        open: true,
        ...options,
      }),
    ],
    scopes: [{ name: 'api1', audience: 'https://api.example.com' }],
    clients: [],
    ...more,
  })

  async function send(url: string, { method = 'POST', token, body, from = '192.0.2.1', headers }: Sent = {}) {
    const request = new Request(url, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return read(await f.provider.fetch(request, { clientAddress: from }))
  }

  const register = (body: unknown = metadata, sent: Omit<Sent, 'body'> = {}) =>
    send(`${issuer}/connect/register`, { ...sent, body })

  /** Registers a client that can be registered. */
  async function registered(more: object = {}, sent: Omit<Sent, 'body'> = {}): Promise<JsonObject & Registered> {
    const { status, body } = await register({ ...metadata, ...more }, sent)
    if (status !== 201) throw new Error(`The client was refused: ${JSON.stringify(body)}`)
    return body
  }

  /** Requests a code. */
  async function authorize(client: Registered, parameters: Readonly<Record<string, string>> = {}) {
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'api1 offline_access',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...parameters,
    })
    const response = await f.provider.fetch(new Request(`${issuer}/connect/authorize?${query}`))
    const location = new URL(response.headers.get('location') ?? 'none:')
    return {
      status: response.status,
      location,
      code: location.searchParams.get('code') ?? '',
      html: await response.text(),
    }
  }

  /** Signs a user in. */
  async function signIn(client: Registered, parameters: Readonly<Record<string, string>> = {}) {
    const { code } = await authorize(client, parameters)
    return f.post(
      'token',
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: parameters.redirect_uri ?? redirectUri,
        code_verifier: verifier,
        ...(client.client_secret === undefined && { client_id: client.client_id }),
      },
      client.client_secret === undefined ? undefined : [client.client_id, client.client_secret],
    )
  }

  const refresh = (client: Registered, token: unknown) =>
    f.post('token', { grant_type: 'refresh_token', refresh_token: String(token), client_id: client.client_id })

  const issueToken = (budget = 1, lifetime = 3600) => f.provider.use(registrations).issueToken({ budget, lifetime })

  return { ...f, send, register, registered, authorize, signIn, refresh, issueToken }
}

/** What tests read of a response. */
export interface Registered {
  readonly client_id: string
  readonly client_secret?: string
  readonly registration_access_token: string
  readonly registration_client_uri: string
}
