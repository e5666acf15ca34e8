import {
  type ClientOptions,
  defineGrant,
  type GrantKit,
  type GrantResult,
  OAuthError,
  type Plugins,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { refreshToken } from '@grantry/plugins/refresh-token'
import {
  type Credentials,
  createTestProvider,
  type NewGrant,
  sha256Of,
  storeGrant,
  type TestProviderOptions,
} from '@grantry/testing'
import * as v from 'valibot'

export const grantType = 'urn:example:exchange'
const redirectUri = 'https://app.example.com/callback'
export const app: Credentials = ['app', 'app-secret']
export const service: Credentials = ['service', 'service-secret']

const refused = () => new OAuthError('invalid_grant', 'The token is not valid', { reason: 'plugin:exchange:unknown' })

export type FamilyMember = NonNullable<
  Awaited<ReturnType<GrantKit['validateToken']>> | Awaited<ReturnType<GrantKit['findGrant']>>
>

/** Exchanges a token of this provider. `more` adds to the result. */
export const exchange = (
  more: (member: FamilyMember) => Partial<GrantResult> = (continuesFamilyOf) => ({ continuesFamilyOf }),
) =>
  defineGrant({
    grantType,
    params: v.object({ token: v.string(), kind: v.picklist(['access_token', 'id_token', 'refresh', 'code']) }),
    async handle({ params: { token, kind }, scopes }, kit) {
      const member =
        kind === 'refresh' || kind === 'code' ? await kit.findGrant(kind, token) : await kit.validateToken(token, kind)
      if (member === undefined) throw refused()
      return { subject: { sub: 'alice', amr: ['token'] }, scopes, ...more(member) } as GrantResult
    },
  })

/** A provider with `app`, which users log in to, and `service`. Both can exchange tokens. */
export async function setUp(
  grant: Plugins = exchange(),
  { refreshLifetime = 86_400, ...more }: Partial<TestProviderOptions> & { readonly refreshLifetime?: number } = {},
) {
  const client = ([clientId, secret]: Credentials) => ({
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    grantTypes: ['authorization_code', 'refresh_token', grantType],
    scopes: ['openid', 'offline_access', 'api1', ...(more.scopes === undefined ? [] : ['api2'])],
    refreshToken: { slidingLifetime: refreshLifetime },
    redirectUris: [redirectUri],
    accessTokenFormat: 'reference' as const,
  })
  const clients: readonly [ClientOptions, ClientOptions] = [
    { ...client(app), accessTokenLifetime: 600 },
    client(service),
  ]
  const f = await createTestProvider({
    plugins: [authorizationCode(), refreshToken(), grant],
    scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
    clients,
    ...more,
  })
  const code = (grant: Partial<NewGrant> = {}) =>
    storeGrant(f.provider, {
      kind: 'code',
      clientId: app[0],
      redirectUri,
      subject: { sub: 'alice', amr: ['pwd'] },
      scopes: ['openid', 'offline_access', 'api1'],
      ...grant,
    })
  const logIn = async (grant?: Partial<NewGrant>) => {
    const form = { grant_type: 'authorization_code', code: await code(grant), redirect_uri: redirectUri }
    return (await f.post('token', form, app)).body
  }
  return {
    ...f,
    clients,
    code,
    logIn,
    exchange: (token: string, kind = 'access_token', scope = 'api1', as = service) =>
      f.post('token', { grant_type: grantType, token, kind, scope }, as),
    isActive: async (token: string) =>
      (await f.post('introspection', { token }, ['api1', 'api1-secret'])).body.active as boolean,
  }
}
