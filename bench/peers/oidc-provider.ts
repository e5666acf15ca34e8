// oidc-provider with a map as its store and only the measured features. Resource indicators, which it needs for JWTs,
// are off for opaque tokens, which is faster.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Context } from 'oidc-provider'
import * as o from '../operations.ts'
import { readSetting, reportReady } from '../setting.ts'

const setting = readSetting()
const { operation, signingKey } = setting
const signs = operation === 'client-credentials-es256' || operation === 'client-credentials-rs256'
const refreshLifetime = 2_592_000

interface Payload {
  readonly grantId?: string
  consumed?: number
}

/** Stores objects, which is cheaper than JSON in an external store. */
function mapAdapter() {
  const store = new Map<string, Payload>()
  return {
    async upsert(id: string, payload: Payload) {
      store.set(id, payload)
    },
    find: async (id: string) => store.get(id),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    async destroy(id: string) {
      store.delete(id)
    },
    async consume(id: string) {
      const payload = store.get(id)
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000)
    },
    async revokeByGrantId(grantId: string) {
      for (const [id, payload] of store) if (payload.grantId === grantId) store.delete(id)
    },
  }
}

const clientOf = ([id, secret]: readonly [string, string], grantTypes: readonly string[]) => ({
  client_id: id,
  client_secret: secret,
  grant_types: grantTypes,
  redirect_uris: [],
  response_types: [],
})

const provider = new Provider(o.issuer, {
  adapter: mapAdapter,
  clients: [
    clientOf(o.opaqueClient, ['client_credentials', 'refresh_token', 'password']),
    clientOf(o.jwtClient, ['client_credentials']),
    clientOf(o.api, []),
  ],
  jwks: { keys: [signingKey] },
  clientDefaults: { id_token_signed_response_alg: signingKey.alg },
  clientAuthMethods: ['client_secret_basic'],
  scopes: ['openid', 'profile', 'offline_access', 'api1'],
  claims: { openid: ['sub'], profile: Object.keys(o.user.claims) },
  findAccount: async (_: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub, ...o.user.claims }) }),
  rotateRefreshToken: true,
  ttl: {
    AccessToken: o.accessTokenLifetime,
    ClientCredentials: o.accessTokenLifetime,
    RefreshToken: refreshLifetime,
    Grant: refreshLifetime,
  },
  routes: { token: o.paths.token, introspection: o.paths.introspection, userinfo: o.paths.userinfo },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    userinfo: { enabled: true },
    resourceIndicators: {
      enabled: signs,
      defaultResource: () => o.audience,
      getResourceServerInfo: () => ({
        scope: 'api1',
        audience: o.audience,
        accessTokenFormat: 'jwt',
        accessTokenTTL: o.accessTokenLifetime,
        jwt: { sign: { alg: signingKey.alg, kid: signingKey.kid } },
      }),
    },
  },
})

/** Issues like its own grants: the grant first, then both tokens. */
async function issue(client: object, scope: string) {
  const about = { accountId: o.user.sub, client, scope, gty: 'password', expiresWithSession: false }
  const grant = new provider.Grant({ accountId: o.user.sub, clientId: o.opaqueClient[0] })
  grant.addOIDCScope(scope)
  const grantId = await grant.save()
  const accessToken = new provider.AccessToken({ ...about, grantId })
  const access = await accessToken.save()
  const refresh = scope.includes('offline_access') ? await new provider.RefreshToken({ ...about, grantId }).save() : ''
  return { access, refresh, expiresIn: accessToken.expiration }
}

// It has no password grant; its documentation shows how to add one.
provider.registerGrantType(
  'password',
  async (ctx: Context) => {
    const { client, params } = ctx.oidc
    const { scope = '', username, password } = params
    if (username !== o.user.username || password !== o.user.password) throw new Error('invalid_grant')
    const { access, refresh, expiresIn } = await issue(client, scope)
    ctx.body = { access_token: access, refresh_token: refresh, expires_in: expiresIn, token_type: 'Bearer', scope }
  },
  ['username', 'password', 'scope'],
)

const held =
  operation === 'introspection' || operation === 'userinfo' || operation === 'refresh'
    ? o.heldScopes[operation].join(' ')
    : undefined
const tokens: string[] = []
for (let count = 0; held !== undefined && count < setting.tokens; count += 1) {
  const { access, refresh } = await issue(await provider.Client.find(o.opaqueClient[0]), held)
  tokens.push(operation === 'refresh' ? refresh : access)
}

const server = createServer(provider.callback())
server.listen(0, '127.0.0.1', () => reportReady({ port: (server.address() as AddressInfo).port, tokens }))
