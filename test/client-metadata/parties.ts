import { createHash } from 'node:crypto'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, type InteractionPort } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { type ClientMetadataOptions, clientMetadata } from '@grantry/plugins/client-metadata'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { createTestProvider, type TestProviderOptions } from '@grantry/testing'
import { createBrowser } from '../authorization/browser.ts'
import { hostSignIn } from '../authorization/parties.ts'

export const issuer = 'https://id.example.com'
export const clientId = 'https://app.example.com/client.json'
export const redirectUri = 'https://app.example.com/callback'
export const resource = 'https://mcp.example.com/mcp'
export const verifier = 'a'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

export const document = {
  client_id: clientId,
  client_name: 'The application',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}

/** What the host of a document sends. */
export interface Hosted {
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The hosts of documents, and the requests that they have received. */
export function createHosts(documents: Readonly<Record<string, Hosted | (() => Promise<Response>)>> = {}) {
  const hosted = new Map<string, Hosted | (() => Promise<Response>)>([[clientId, { body: document }]])
  for (const [url, response] of Object.entries(documents)) hosted.set(url, response)
  const requested: string[] = []
  async function fetch(url: string): Promise<Response> {
    requested.push(url)
    const response = hosted.get(url)
    if (typeof response === 'function') return response()
    if (response === undefined)
      return new Response('', { status: 404, headers: { 'content-type': 'application/json' } })
    const { status = 200, type = 'application/json', headers = {}, body } = response
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return new Response(text, { status, headers: { 'content-type': type, ...headers } })
  }
  return { hosted, requested, fetch }
}

export async function setUp(
  hosts = createHosts(),
  options: Partial<ClientMetadataOptions> = {},
  more: Partial<TestProviderOptions> = {},
  interaction: InteractionPort = hostSignIn,
) {
  const f = await createTestProvider({
    issuer,
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      resourceIndicators(),
      clientAssertion(),
      authorizationEndpoint({ interaction }),
      clientMetadata({ scopes: ['openid', 'offline_access', 'mcp:tools'], fetch: hosts.fetch, ...options }),
    ],
    scopes: [{ name: 'mcp:tools', audience: resource, default: true }],
    clients: [],
    ...more,
  })
  const request = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'mcp:tools offline_access',
    state: 'state-1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource,
  }
  const urlOf = (parameters: Readonly<Record<string, string>> = {}): string =>
    `${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...parameters })}`
  const redeem = (code = '', form: Readonly<Record<string, string>> = {}) =>
    f.post('token', {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource,
      ...form,
    })
  /** Requests a code, from an address. */
  const authorize = async (parameters: Readonly<Record<string, string>> = {}, clientAddress = '192.0.2.1') => {
    const response = await f.provider.fetch(new Request(urlOf(parameters)), { clientAddress })
    const location = new URL(response.headers.get('location') ?? 'none:')
    return {
      status: response.status,
      location,
      code: location.searchParams.get('code') ?? undefined,
      html: await response.text(),
    }
  }
  const failures = () => f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : []))
  return { ...f, ...hosts, urlOf, authorize, redeem, failures, browser: () => createBrowser(f.provider) }
}
