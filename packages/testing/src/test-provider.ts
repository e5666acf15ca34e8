import {
  type Approval,
  type AuthorizationRequest,
  type ClientOptions,
  collectParts,
  createProvider,
  type EndpointName,
  type Handler,
  type Provider,
  type ProviderEvent,
  type ProviderOptions,
  type Runtime,
  thrownValueOf,
  webRuntime,
} from '@grantry/core'
import { mapDriver } from './map-driver.ts'

/** A clock that only advances when a test advances it. */
export interface TestClock {
  /** Epoch seconds. */
  now(): number
  advance(seconds: number): void
}

/** @param start epoch seconds */
export function createTestClock(start = 1_800_000_000): TestClock {
  let now = start
  return {
    now: () => now,
    advance(seconds) {
      now += seconds
    },
  }
}

/** A response with its body parsed. */
export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON, the text of an HTML page, or `undefined` for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members that it expects, and fails if they are missing.
  readonly body: any
  /**
   * The thrown value for a `server_error`, or the reason of another refusal (`scope_unknown`). Not part of the HTTP
   * response.
   */
  readonly failure?: unknown
}

/** The name of an endpoint of the core or of a plugin. */
type AnyEndpoint = EndpointName | (string & {})

/** A provider for tests, with control over its clock and access to its events. */
export interface TestProvider {
  readonly provider: Provider
  readonly clock: TestClock
  /** All events so far. */
  readonly events: ProviderEvent[]
  /**
   * Posts a form to an endpoint. `as` adds Basic authentication as a client or scope; `from` sets the client address.
   */
  post(
    endpoint: AnyEndpoint,
    form: Readonly<Record<string, string>>,
    as?: Credentials,
    from?: string,
  ): Promise<TestResponse>
  get(
    endpoint: AnyEndpoint,
    query?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
    from?: string,
  ): Promise<TestResponse>
}

/** An id and its secret. */
export type Credentials = readonly [id: string, secret: string]

/** All members are optional, and `undefined` counts as absent. */
export type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

export type TestProviderOptions = Optional<Omit<ProviderOptions, 'plugins'>> & Pick<ProviderOptions, 'plugins'>

/**
 * The default client of a test provider. It has every grant type of the plugins, the scope `api1` and the redirect URI
 * `https://client.example.com/callback`.
 */
export const testClient: Credentials = ['test-client', 'test-client-secret']

const issuer = 'https://id.example.com'

/** An authorization request, and what a user has authorized of it. */
export type NewGrant = AuthorizationRequest & Approval

/**
 * Stores a grant, such as a code, without a page: as if a user had authorized all that the request asks for. Returns its
 * credential.
 *
 * @example
 * const request = { kind: 'code', clientId: 'web', redirectUri: 'https://web.example.com/callback', scopes: ['openid'] }
 * const code = await storeGrant(provider, { ...request, subject: { sub: 'alice', amr: ['pwd'] } })
 */
export async function storeGrant(
  { openAuthorization, authorize }: Pick<Provider, 'openAuthorization' | 'authorize'>,
  { subject, claims, identityClaims, subjectEpoch, credentialHash, ...request }: NewGrant,
): Promise<string> {
  const proposal = await openAuthorization(request)
  return authorize(proposal, { subject, claims, identityClaims, subjectEpoch, credentialHash })
}

/** Hashes a secret for `sha256` of a client or scope. */
export function sha256Of(secret: string): string {
  const digest = webRuntime.sha256(new TextEncoder().encode(secret))
  return btoa(String.fromCharCode(...digest))
}

/** Returns an `Authorization: Basic` header value. Does not form-encode, as in the seed. */
export function basic([id, secret]: Credentials): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${id}:${secret}`)))}`
}

/** Reads a response and parses its body as JSON, unless it is an HTML page. */
export async function read(response: Response): Promise<TestResponse> {
  const text = await response.text()
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('text/html')) return { status, headers, body: text }
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) }
}

// Shared by all test providers: generating a key takes longer than most tests.
let keys: Promise<ProviderOptions['keys']> | undefined

async function sharedKeys(): Promise<ProviderOptions['keys']> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])
  const jwk = await crypto.subtle.exportKey('jwk', privateKey)
  return [{ ...jwk, alg: 'ES256' }] as ProviderOptions['keys']
}

const imports = new Map<string, ReturnType<Runtime['importKey']>>()

/** Imports each key once: the import of a key takes a quarter of the time that a provider needs to start. */
const importOnce: Runtime['importKey'] = (jwk, algorithm) => {
  const text = JSON.stringify([jwk, algorithm])
  const known = imports.get(text) ?? webRuntime.importKey(jwk, algorithm)
  imports.set(text, known)
  return known
}

/** Returns the last event of a type. Starts at the end: a test of a limit sends thousands of requests. */
function lastOf<T extends ProviderEvent['type']>(events: readonly ProviderEvent[], type: T) {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]
    if (event?.type === type) return event as Extract<ProviderEvent, { readonly type: T }>
  }
  return undefined
}

/**
 * Creates a provider for tests, with its own clock, in-memory records, and access to all events.
 *
 * @example
 * const { post } = await createTestProvider({ plugins: [badgeGrant(doors)] })
 * const form = { grant_type: 'urn:example:badge', badge_id: '123456', scope: 'api1' }
 * const { status, body } = await post('token', form, testClient)
 */
export async function createTestProvider(options: TestProviderOptions): Promise<TestProvider> {
  const clock = createTestClock()
  const events: ProviderEvent[] = []
  keys ??= sharedKeys()
  // An option that is `undefined` keeps its default.
  const set = Object.entries(options).filter(([, value]) => value !== undefined)
  const defined = Object.fromEntries(set) as Partial<ProviderOptions> & Pick<ProviderOptions, 'plugins'>
  const [clientId, secret] = testClient
  const provided = collectParts(options.plugins).flatMap(({ part }) => (part.kind === 'grant' ? [part.grantType] : []))
  // Several plugins can provide variants of one.
  const grantTypes = [...new Set(provided)]
  const client: ClientOptions = {
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    grantTypes,
    scopes: ['openid', 'profile', 'offline_access', 'api1'],
    redirectUris: ['https://client.example.com/callback'],
    accessTokenFormat: 'reference',
  }
  const provider = await createProvider({
    issuer,
    keys: await keys,
    storage: mapDriver(new Map(), clock.now),
    clients: [client],
    scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
    ...defined,
    runtime: { importKey: importOnce, ...options.runtime, now: options.runtime?.now ?? clock.now },
    observe: (event) => {
      events.push(event)
      return options.observe?.(event)
    },
  })
  const responseWithFailure = async (response: Response): Promise<TestResponse> => {
    const result = await read(response)
    if (response.status < 400) return result
    if (response.status !== 500) return { ...result, failure: lastOf(events, 'endpoint_failed')?.reason }
    const failed = lastOf(events, 'unhandled_failure')
    return { ...result, failure: failed && thrownValueOf(failed.cause) }
  }
  const url = (endpoint: string): string => `${provider.issuer}/handlers/${endpoint}`
  function handlerOf(endpoint: string): Handler {
    const handler = provider.handlers[endpoint]
    if (handler === undefined) throw new TypeError(`There is no endpoint ${endpoint}`)
    return handler
  }
  return {
    provider,
    clock,
    events,
    async post(endpoint, form, as, from) {
      const headers = as === undefined ? undefined : { authorization: basic(as) }
      const request = new Request(url(endpoint), {
        method: 'POST',
        body: new URLSearchParams(form),
        ...(headers !== undefined && { headers }),
      })
      return responseWithFailure(await handlerOf(endpoint)(request, { clientAddress: from }))
    },
    async get(endpoint, query = {}, headers = {}, from = undefined) {
      const request = new Request(`${url(endpoint)}?${new URLSearchParams(query)}`, { headers })
      return responseWithFailure(await handlerOf(endpoint)(request, { clientAddress: from }))
    },
  }
}
