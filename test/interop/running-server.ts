import { serve } from '@grantry/adapters/node'
import { type ClientOptions, type ProviderOptions, type ScopeOptions, webRuntime } from '@grantry/core'
import { type Credentials, sha256Of, storeGrant } from '@grantry/testing'
import { clients, type Fixture, fixture, redirectUri, scopes } from '../support/fixture.ts'
import { reservedPort } from '../support/reserved-port.ts'

/**
 * An id and a secret of which form-encoding (RFC 6749 section 2.3.1) changes nearly every character; `%2B` must not be
 * decoded twice.
 */
export const awkward: Credentials = ['my-client', '100% a+b:c%2B ü']
/** The same for libraries that accept printable ASCII only. */
export const awkwardAscii: Credentials = ['my-client (ascii)', '100% a+b:c%2B']
export const awkwardApi: Credentials = ['my-api', '50% a+b:c%2B ü']
/** Its refresh tokens cannot be retried, so that a reuse is detected without waiting for the retry window to end. */
export const noRetry: Credentials = ['no-retry', 'no-retry-secret']

const confidential = ([clientId, secret]: Credentials, more: Partial<ClientOptions> = {}): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
  scopes: ['openid', 'offline_access', 'api1', 'my-api'],
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
  ...more,
})

const interopClients: readonly ClientOptions[] = [
  ...clients,
  confidential(awkward),
  confidential(awkwardAscii),
  confidential(noRetry, { refreshToken: { retryWindow: 0 } }),
]

const interopScopes: readonly ScopeOptions[] = [
  ...scopes,
  { name: awkwardApi[0], secrets: [{ sha256: sha256Of(awkwardApi[1]) }] },
]

export interface RunningProvider extends Fixture {
  readonly issuer: string
  /** Plays the host's login page: alice logs in and consents to everything in the URL. Returns the redirect target. */
  login(authorizationUrl: URL | string): Promise<URL>
  close(): Promise<void>
}

/** A provider that listens on a free loopback port, with the real clock: the libraries compare times with their own. */
export async function startProvider(path = '', options: Partial<ProviderOptions> = {}): Promise<RunningProvider> {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}${path}`
  const started = await fixture({
    issuer,
    authorizationEndpoint: `${issuer}/login`,
    clients: interopClients,
    scopes: interopScopes,
    runtime: { now: webRuntime.now },
    ...options,
  })
  const running = await serve(started.provider, { port })

  async function login(authorizationUrl: URL | string): Promise<URL> {
    const url = new URL(authorizationUrl)
    const asked = (name: string): string => {
      const value = url.searchParams.get(name)
      if (value === null) throw new TypeError(`the authorization request has no ${name}`)
      return value
    }
    if (`${url.origin}${url.pathname}` !== `${issuer}/login`) throw new TypeError(`${url} is not the login page`)
    if (asked('response_type') !== 'code' || asked('code_challenge_method') !== 'S256') {
      throw new TypeError('the login page supports only response_type=code with S256')
    }
    const nonce = url.searchParams.get('nonce')
    const code = await storeGrant(started.provider, {
      kind: 'code',
      clientId: asked('client_id'),
      redirectUri: asked('redirect_uri'),
      scopes: asked('scope').split(' '),
      subject: { sub: '1', amr: ['pwd'] },
      params: { code_challenge: asked('code_challenge'), code_challenge_method: 'S256' },
      ...(nonce !== null && { nonce }),
    })
    const callback = new URL(asked('redirect_uri'))
    callback.searchParams.set('code', code)
    callback.searchParams.set('state', asked('state'))
    // RFC 9207: libraries compare it with the discovered issuer.
    callback.searchParams.set('iss', started.provider.issuer)
    return callback
  }

  return { ...started, issuer, login, close: () => running.close(1) }
}
