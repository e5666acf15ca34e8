// better-auth with its OAuth provider on `pg`: reference tokens, hashes of tokens and secrets, and its cache of clients and
// resources. Its rows are created directly, as its endpoints create them for a browser.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins'
import pg from 'pg'
import * as o from '../operations.ts'
import { issueMany, readSetting, reportReady } from '../setting.ts'
import { claimsOf, ownersOf } from '../users.ts'

/** Its own paths. */
const routes: Readonly<Record<string, string>> = {
  [o.paths.authorization]: '/api/auth/oauth2/authorize',
  [o.paths.token]: '/api/auth/oauth2/token',
  [o.paths.introspection]: '/api/auth/oauth2/introspect',
  [o.paths.userinfo]: '/api/auth/oauth2/userinfo',
}

const scopes = ['openid', 'profile', 'offline_access', 'api1']
const [clientId] = o.opaqueClient
const [jwtClientId] = o.jwtClient
const [apiId] = o.api

const secret = randomBytes(32).toString('base64url')

const auth = betterAuth({
  baseURL: o.issuer,
  secret,
  database: new pg.Pool({ connectionString: readSetting().storeUrl, max: 10 }),
  logger: { disabled: true },
  telemetry: { enabled: false },
  rateLimit: { enabled: false },
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
    oauthProvider({
      loginPage: '/sign-in',
      consentPage: '/consent',
      scopes,
      cachedTrustedClients: new Set([clientId, jwtClientId, apiId]),
      cachedTrustedResources: new Set([o.audience]),
      accessTokenExpiresIn: o.accessTokenLifetime,
      m2mAccessTokenExpiresIn: o.accessTokenLifetime,
      codeExpiresIn: o.codeLifetime,
      customUserInfoClaims: ({ user }: { readonly user: { readonly id: string } }) => claimsOf(user.id),
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
const after = (seconds: number): Date => new Date(Date.now() + seconds * 1000)

await (await getMigrations(auth.options)).runMigrations()
const { adapter } = await auth.$context

const create = (model: string, data: object): Promise<unknown> =>
  adapter.create({
    model,
    data: { createdAt: new Date(), updatedAt: new Date(), ...data },
    forceAllowId: true,
  })

const nextOwner = ownersOf(readSetting())

/** Creates a user and a session for a token. */
async function newOwner(): Promise<{ readonly userId: string; readonly sessionId: string }> {
  const userId = nextOwner()
  const [sessionId, session] = [`session-${userId}`, { userId, token: `token-${userId}`, expiresAt: after(86_400) }]
  if ((await adapter.findOne({ model: 'user', where: [{ field: 'id', value: userId }] })) === null) {
    await create('user', {
      id: userId,
      name: claimsOf(userId).name,
      email: `${userId}@example.com`,
      emailVerified: true,
    })
    await create('session', { id: sessionId, ...session })
  }
  return { userId, sessionId }
}

const sessionId = 'session'
const sessionToken = 'session-token'

/** Creates what a token refers to, unless an earlier start has done it. */
async function prepare(): Promise<void> {
  const { sub, claims } = o.user
  if ((await adapter.findOne({ model: 'user', where: [{ field: 'id', value: sub }] })) !== null) return
  await create('user', { id: sub, name: claims.name, email: 'alice@example.com', emailVerified: true })
  await create('session', { id: sessionId, userId: sub, token: sessionToken, expiresAt: after(86_400) })
  for (const [id, secret] of [o.opaqueClient, o.jwtClient, o.api]) {
    await create('oauthClient', {
      clientId: id,
      clientSecret: hashOf(secret),
      scopes,
      clientCredentialsScopes: ['api1'],
      grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
      redirectUris: [o.redirectUri],
      tokenEndpointAuthMethod: 'client_secret_basic',
      requirePKCE: false,
      skipConsent: true,
    })
  }
  // Only the issuing client, and those of the token's resource, may introspect it.
  await create('oauthResource', { identifier: o.audience, name: apiId })
  for (const id of [apiId, jwtClientId]) await create('oauthClientResource', { clientId: id, resourceId: o.audience })
}

/** The cookie of the session, signed as in its own responses. */
function sessionCookie(): string {
  const signature = createHmac('sha256', secret).update(sessionToken).digest('base64')
  return `__Secure-better-auth.session_token=${encodeURIComponent(`${sessionToken}.${signature}`)}`
}

async function issueOne(operation: o.PresentingOperation): Promise<string> {
  if (operation === o.signInOperation) return sessionCookie()
  const token = randomBytes(24).toString('base64url')
  const hash = hashOf(token)
  const owner = { clientId, ...(await newOwner()), scopes: [...o.issuedScopes[operation]] }
  if (operation === 'authorization-code') {
    // Without a proof key, it requires OpenID Connect with a nonce for a refresh token.
    const scope = `openid ${owner.scopes.join(' ')}`
    const query = { client_id: clientId, response_type: 'code', redirect_uri: o.redirectUri, scope, nonce: 'nonce' }
    const value = {
      type: 'authorization_code',
      query,
      userId: owner.userId,
      sessionId: owner.sessionId,
      authTime: Date.now(),
    }
    await create('verification', { identifier: hash, value: JSON.stringify(value), expiresAt: after(o.codeLifetime) })
  } else if (operation === 'refresh') {
    await create('oauthRefreshToken', { ...owner, token: hash, expiresAt: after(2_592_000) })
  } else {
    const resources = operation === 'introspection' ? [o.audience] : undefined
    await create('oauthAccessToken', { ...owner, token: hash, resources, expiresAt: after(o.accessTokenLifetime) })
  }
  return token
}

await prepare()
const handle = toNodeHandler(auth)
const server = createServer((request, response) => {
  const [path = '', query] = (request.url ?? '').split('?')
  request.url = (routes[path] ?? path) + (query === undefined ? '' : `?${query}`)
  return handle(request, response)
})
server.listen(0, '127.0.0.1', () =>
  reportReady((server.address() as AddressInfo).port, async (operation, count) =>
    o.presentsIssued(operation) ? issueMany(count, () => issueOne(operation)) : [],
  ),
)
