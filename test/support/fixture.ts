import type { ClientOptions, ProviderOptions, ScopeOptions, UserService } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import {
  type Credentials,
  createTestProvider,
  type NewGrant,
  sha256Of,
  storeGrant,
  type TestProvider,
} from '@grantry/testing'

export const builtInPlugins = [clientCredentials(), password(), authorizationCode(), proofKey(), refreshToken()]

/** Confidential; every built-in grant type; reference tokens. */
export const web: Credentials = ['web', 'web-secret']
/** The same with JWT access tokens. */
export const webJwt: Credentials = ['web-jwt', 'web-jwt-secret']
/** Another confidential client, for attacks. */
export const otherClient: Credentials = ['other', 'other-secret']
/** Public: code and refresh only. */
export const spaClientId = 'spa'
export const api1: Credentials = ['api1', 'api1-secret']
export const api2: Credentials = ['api2', 'api2-secret']

export const redirectUri = 'https://web.example.com/callback'

const everyGrantType = ['client_credentials', 'password', 'authorization_code', 'refresh_token']
const everyScope = ['openid', 'profile', 'email', 'roles', 'offline_access', 'api1', 'api2']

const confidential = ([clientId, secret]: Credentials, more: Partial<ClientOptions> = {}): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: everyGrantType,
  scopes: everyScope,
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
  ...more,
})

export const clients: readonly ClientOptions[] = [
  confidential(web, { allowedCorsOrigins: ['https://web.example.com'] }),
  confidential(webJwt, { accessTokenFormat: 'jwt' }),
  confidential(otherClient, { redirectUris: [redirectUri, 'https://other.example.com/callback'] }),
  {
    clientId: spaClientId,
    public: true,
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: everyScope,
    redirectUris: [redirectUri],
    allowedCorsOrigins: ['https://spa.example.com'],
    accessTokenFormat: 'reference',
  },
]

export const scopes: readonly ScopeOptions[] = [
  { name: 'api1', secrets: [{ sha256: sha256Of(api1[1]) }], audience: 'https://api1.example.com' },
  { name: 'api2', secrets: [{ sha256: sha256Of(api2[1]) }] },
]

/** Users in an object; a test may change `active` while it runs. */
export interface TestUser {
  readonly sub: string
  readonly password: string
  active: boolean
  readonly claims: Record<string, string | number | boolean | readonly string[] | object>
}

export function testUsers(): { readonly users: Record<string, TestUser>; readonly service: UserService } {
  const users: Record<string, TestUser> = {
    alice: {
      sub: '1',
      password: 'alice-password',
      active: true,
      claims: {
        name: 'Alice Smith',
        given_name: 'Alice',
        family_name: 'Smith',
        email: 'alice@example.com',
        role: ['admin', 'editor'],
      },
    },
    bob: { sub: '2', password: 'bob-password', active: true, claims: { name: 'Bob', role: 'reader' } },
  }
  const bySub = (sub: string): TestUser | undefined => Object.values(users).find((user) => user.sub === sub)
  const service: UserService = {
    authenticate({ username, password }) {
      const user = Object.hasOwn(users, username) ? users[username] : undefined
      return user?.active && user.password === password ? { sub: user.sub } : undefined
    },
    isActive: (sub) => bySub(sub)?.active ?? false,
    claims: (sub) => (bySub(sub)?.claims ?? {}) as never,
  }
  return { users, service }
}

/** What a user authorizes for a code. */
export interface NewCode extends Partial<NewGrant> {
  /** `code_challenge` of `params`. */
  readonly codeChallenge?: string | undefined
  /** Default: `S256`, unlike on the wire. */
  readonly codeChallengeMethod?: string | undefined
}

export function paramsOf({ params, codeChallenge, codeChallengeMethod }: NewCode): Readonly<Record<string, string>> {
  const method = codeChallengeMethod ?? (codeChallenge === undefined ? undefined : 'S256')
  return {
    ...params,
    ...(codeChallenge !== undefined && { code_challenge: codeChallenge }),
    ...(method !== undefined && { code_challenge_method: method }),
  }
}

export interface Fixture extends TestProvider {
  readonly users: Record<string, TestUser>
  /** A code for alice and the client `web` by default. */
  code(more?: NewCode): Promise<string>
}

/** A provider with everything built in, four clients, two APIs and two users. */
export async function fixture(options: Partial<ProviderOptions> = {}): Promise<Fixture> {
  const { users, service } = testUsers()
  const test = await createTestProvider({
    plugins: builtInPlugins,
    storage: memoryDriver(),
    // A busy machine is no outage.
    storageTimeLimit: 60,
    hostTimeLimit: 60,
    clients,
    scopes,
    users: service,
    ...options,
  })
  return {
    ...test,
    users,
    code({ codeChallenge, codeChallengeMethod, params, ...more } = {}) {
      return storeGrant(test.provider, {
        kind: 'code',
        clientId: web[0],
        redirectUri,
        scopes: ['openid', 'profile', 'offline_access', 'api1'],
        subject: { sub: '1', amr: ['pwd'] },
        ...more,
        params: paramsOf({ params, codeChallenge, codeChallengeMethod }),
      })
    },
  }
}

/** RFC 7636 appendix B. */
export const proof = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
} as const

/** The reason of the last refusal, which only events contain. */
export const lastReason = ({ events }: Pick<Fixture, 'events'>): string | undefined =>
  events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : [])).at(-1)
