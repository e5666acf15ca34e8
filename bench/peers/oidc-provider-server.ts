// oidc-provider with only the measured features. Resource indicators, which it needs for JWTs, are off for opaque tokens,
// which is faster.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Context } from 'oidc-provider'
import * as o from '../operations.ts'
import { issueMany, reportReady, type Setting } from '../setting.ts'
import { ownersOf, subOf } from '../users.ts'

const refreshLifetime = 2_592_000

const clientOf = ([id, secret]: readonly [string, string], grantTypes: readonly string[]) => ({
  client_id: id,
  client_secret: secret,
  grant_types: grantTypes,
  redirect_uris: grantTypes.includes('authorization_code') ? [o.redirectUri] : [],
  response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
})

type ReadClaims = (sub: string) => Promise<Readonly<Record<string, unknown>> | undefined>

const claimsInMemory: ReadClaims = async () => o.user.claims

const configurationOf = ({ operation, signingKey }: Setting, adapter: unknown, read: ReadClaims) => ({
  adapter,
  clients: [
    clientOf(o.opaqueClient, ['client_credentials', 'refresh_token', 'password', 'authorization_code']),
    clientOf(o.jwtClient, ['client_credentials']),
    clientOf(o.api, []),
  ],
  jwks: { keys: [signingKey] },
  clientDefaults: { id_token_signed_response_alg: signingKey.alg },
  clientAuthMethods: ['client_secret_basic'],
  scopes: ['openid', 'profile', 'offline_access', 'api1'],
  claims: { openid: ['sub'], profile: Object.keys(o.user.claims) },
  async findAccount(_: unknown, sub: string) {
    const claims = await read(sub)
    return claims && { accountId: sub, claims: async () => ({ ...claims, sub }) }
  },
  rotateRefreshToken: true,
  ttl: {
    AccessToken: o.accessTokenLifetime,
    ClientCredentials: o.accessTokenLifetime,
    RefreshToken: refreshLifetime,
    Grant: refreshLifetime,
    AuthorizationCode: o.codeLifetime,
  },
  interactions: { url: () => signInPath },
  routes: {
    authorization: o.paths.authorization,
    token: o.paths.token,
    introspection: o.paths.introspection,
    userinfo: o.paths.userinfo,
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    userinfo: { enabled: true },
    resourceIndicators: {
      enabled: operation === 'client-credentials-es256' || operation === 'client-credentials-rs256',
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

/** Serves the page of the sign-in. */
const signInPath = '/sign-in'

/** Walks through a sign-in as a browser does. Returns the cookies of the session. */
async function newSession(port: number): Promise<string> {
  const jar = new Map<string, string>()
  let url = `http://127.0.0.1:${port}${o.paths.authorization}?${o.authorizationQuery}`
  while (!url.startsWith(o.redirectUri)) {
    const { headers } = await fetch(url, { redirect: 'manual', headers: { cookie: [...jar.values()].join('; ') } })
    for (const cookie of headers.getSetCookie()) {
      const pair = cookie.split(';')[0] ?? ''
      jar.set(pair.split('=')[0] ?? '', pair)
    }
    url = new URL(headers.get('location') ?? o.redirectUri, url).href
  }
  return [...jar].flatMap(([name, pair]) => (name.startsWith('_session') ? pair : [])).join('; ')
}

/**
 * @param adapter a constructor or function that returns the store of a model, by its name
 * @param read returns the claims of a user
 */
export function serveOidcProvider(setting: Setting, adapter: (name: string) => object, read = claimsInMemory): void {
  const provider = new Provider(o.issuer, configurationOf(setting, adapter, read))
  const nextOwner = ownersOf(setting)

  async function newGrant(sub: string, scope: string): Promise<string> {
    const grant = new provider.Grant({ accountId: sub, clientId: o.opaqueClient[0] })
    grant.addOIDCScope(scope)
    return grant.save()
  }

  /** Issues like its own grants: the grant first, then both tokens. */
  async function issueTokens(client: object, sub: string, scope: string) {
    const grantId = await newGrant(sub, scope)
    const about = { accountId: sub, client, scope, grantId, gty: 'password', expiresWithSession: false }
    const accessToken = new provider.AccessToken(about)
    const access = await accessToken.save()
    const refresh = scope.includes('offline_access') ? await new provider.RefreshToken(about).save() : ''
    return { access, refresh, expiresIn: accessToken.expiration }
  }

  // It has no password grant; its documentation shows how to add one.
  provider.registerGrantType(
    'password',
    async (ctx: Context) => {
      const { client, params } = ctx.oidc
      const { scope = '', username, password } = params
      const sub = subOf(username, password)
      if (sub === undefined) throw new Error('invalid_grant')
      const { access, refresh, expiresIn } = await issueTokens(client, sub, scope)
      ctx.body = { access_token: access, refresh_token: refresh, expires_in: expiresIn, token_type: 'Bearer', scope }
    },
    ['username', 'password', 'scope'],
  )

  async function issueOne(client: object, operation: o.PresentingOperation): Promise<string> {
    const scope = o.issuedScopes[operation].join(' ')
    const sub = nextOwner()
    if (operation === o.signInOperation) return newSession(portOf())
    if (operation === 'authorization-code') {
      const grantId = await newGrant(sub, scope)
      const about = { accountId: sub, client, scope, grantId, redirectUri: o.redirectUri, expiresWithSession: false }
      return new provider.AuthorizationCode(about).save()
    }
    const { access, refresh } = await issueTokens(client, sub, scope)
    return operation === 'refresh' ? refresh : access
  }

  const handle = provider.callback()
  const server = createServer(async (request, response) => {
    if (request.url !== signInPath) return handle(request, response)
    // The user signs in, and consents.
    const sub = nextOwner()
    const grantId = await newGrant(sub, o.issuedScopes['sign-in'].join(' '))
    await provider.interactionFinished(request, response, { login: { accountId: sub }, consent: { grantId } })
  })
  const portOf = (): number => (server.address() as AddressInfo).port
  server.listen(0, '127.0.0.1', () =>
    reportReady(portOf(), async (operation, count) => {
      if (!o.presentsIssued(operation)) return []
      const client = await provider.Client.find(o.opaqueClient[0])
      return issueMany(count, () => issueOne(client, operation))
    }),
  )
}
