import {
  type AtomicDriver,
  authorizations,
  type ClientOptions,
  defineGrant,
  type OAuthError,
  type Plugins,
  type Refuse,
} from '@grantry/core'
import * as v from 'valibot'
import {
  type Credentials,
  createTestProvider,
  sha256Of,
  storeGrant,
  type TestClock,
  type TestResponse,
} from '../index.ts'

const redirectUri = 'https://client.example.com/callback'

/** A client with rotation and a retry window of five minutes, longer than any proof takes. */
const retrying: Credentials = ['retrying', 'retrying-secret']
/** A client with rotation and no retry window. */
export const strict: Credentials = ['strict', 'strict-secret']

export const retryWindow = 300

const notValid = (refuse: Refuse): OAuthError => refuse('invalid_grant', 'The grant is not valid', 'unknown')

/** Minimal grants that redeem codes and refresh tokens. The core checks the client and spends the credential. */
const grants: Plugins = [
  defineGrant({
    grantType: 'authorization_code',
    params: v.object({ code: v.string() }),
    scope: 'ignored',
    requires: [authorizations],
    stored: { kind: 'code', redirect: true },
    async handle({ params }, kit) {
      const stored = await kit.findGrant('code', params.code)
      if (stored === undefined) throw notValid(kit.refuse)
      return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
    },
  }),
  defineGrant({
    grantType: 'refresh_token',
    params: v.object({ refresh_token: v.string() }),
    scope: 'optional',
    stored: { kind: 'refresh' },
    async handle({ params }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      if (stored === undefined) throw notValid(kit.refuse)
      return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
    },
  }),
]

const clientOf = ([clientId, secret]: Credentials, window: number): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['authorization_code', 'refresh_token'],
  scopes: ['offline_access', 'api1'],
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
  authorizationCodeLifetime: 600,
  refreshToken: { retryWindow: window },
})

/** A provider on a driver, with the requests of a client. */
export interface Redeemer {
  readonly clock: TestClock
  code(client?: Credentials): Promise<string>
  redeem(code: string, client?: Credentials): Promise<TestResponse>
  refresh(token: string, client?: Credentials): Promise<TestResponse>
  introspect(accessToken: string): Promise<TestResponse>
  /** Returns an unused refresh token. */
  refreshToken(client?: Credentials): Promise<string>
}

/** @param timeLimit of a storage operation, in seconds: long, because the machine can be busy */
export async function openRedeemer(storage: AtomicDriver, shared?: TestClock, timeLimit = 30): Promise<Redeemer> {
  const { provider, clock, post } = await createTestProvider({
    storage,
    storageTimeLimit: timeLimit,
    plugins: grants,
    clients: [clientOf(retrying, retryWindow), clientOf(strict, 0)],
    ...(shared !== undefined && { runtime: { now: shared.now } }),
  })
  const redeemer: Redeemer = {
    clock: shared ?? clock,
    code: ([clientId] = retrying) =>
      storeGrant(provider, {
        kind: 'code',
        clientId,
        redirectUri,
        scopes: ['offline_access', 'api1'],
        subject: { sub: 'alice', amr: ['pwd'] },
      }),
    redeem: (code, client = retrying) => post('token', { grant_type: 'authorization_code', code }, client),
    refresh: (token, client = retrying) => post('token', { grant_type: 'refresh_token', refresh_token: token }, client),
    introspect: (token) => post('introspection', { token }, ['api1', 'api1-secret']),
    async refreshToken(client = retrying) {
      const { status, body } = await redeemer.redeem(await redeemer.code(client), client)
      if (status !== 200) throw new Error(`a new code should be redeemed, but the response was ${status} ${body.error}`)
      return body.refresh_token
    },
  }
  return redeemer
}

export const isSuccess = ({ status }: TestResponse): boolean => status === 200

export const isRefusal = ({ status, body }: TestResponse): boolean => status === 400 && body.error === 'invalid_grant'

/** Whether the response is a 503 with Retry-After and without details of the storage. */
export const isUnavailable = ({ status, body, headers }: TestResponse): boolean =>
  status === 503 && body.error === 'temporarily_unavailable' && Number(headers.get('retry-after')) > 0

export function describeResponse({ status, body, headers }: TestResponse): string {
  if (status === 200) return '200'
  const response = `${status} ${body?.error ?? 'without an error'}`
  return status === 503 && !headers.has('retry-after') ? `${response} without Retry-After` : response
}
