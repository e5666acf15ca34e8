// @jmondi/oauth2-server on fastify, set up as documented. It supports only JWTs; for reference tokens, a custom JWT
// service returns the random id of the record. Records are objects in a map, under the hash of their token.
import { createPrivateKey, hash, randomFillSync, timingSafeEqual } from 'node:crypto'
import formbody from '@fastify/formbody'
import { AuthorizationServer, DateInterval } from '@jmondi/oauth2-server'
import { handleFastifyError, handleFastifyReply, requestFromFastify } from '@jmondi/oauth2-server/fastify'
import { fastify, type Reply } from 'fastify'
import jsonwebtoken from 'jsonwebtoken'
import * as o from '../operations.ts'
import { readSetting, reportReady } from '../setting.ts'

interface Token {
  accessToken: string
  accessTokenExpiresAt: Date
  refreshToken?: string | null
  refreshTokenExpiresAt?: Date
  readonly client: Client
  readonly user: { readonly id: string } | undefined
  readonly scopes: readonly { readonly name: string }[]
}
type Client = ReturnType<typeof clientOf>

const setting = readSetting()
const pool = Buffer.alloc(4096)
let used = pool.length
function random(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 32
  return pool.toString('base64url', used - 32, used)
}
const hashOf = (text: string): string => hash('sha256', text, 'hex')

const scopes = ['openid', 'profile', 'offline_access', 'api1'].map((name) => ({ name }))
const clientOf = ([id, secret]: readonly [string, string]) => ({
  id,
  name: id,
  secret: hashOf(secret),
  redirectUris: [],
  allowedGrants: ['client_credentials', 'refresh_token', 'password'],
  scopes,
})
const clients = new Map([o.opaqueClient, o.jwtClient, o.api].map((pair) => [pair[0], clientOf(pair)]))

const clientRepository = {
  getByIdentifier: async (id: string) => clients.get(id),
  isClientValid: async (grantType: string, client: Client, secret = '') =>
    client.allowedGrants.includes(grantType) &&
    timingSafeEqual(Buffer.from(client.secret), Buffer.from(hashOf(secret))),
}

const accessTokens = new Map<string, Token>()
const refreshTokens = new Map<string, Token>()
const refreshLifetime = new DateInterval('30d')

const tokenRepository = {
  issueToken: async (client: Client, granted: Token['scopes'], user: Token['user']): Promise<Token> => ({
    accessToken: random(),
    accessTokenExpiresAt: new Date(),
    client,
    user,
    scopes: granted,
  }),
  async persist(token: Token) {
    accessTokens.set(hashOf(token.accessToken), token)
  },
  async issueRefreshToken(token: Token): Promise<Token> {
    token.refreshToken = random()
    token.refreshTokenExpiresAt = refreshLifetime.getEndDate()
    refreshTokens.set(hashOf(token.refreshToken), token)
    return token
  },
  async revoke(token: Token) {
    refreshTokens.delete(hashOf(token.refreshToken ?? ''))
  },
  isRefreshTokenRevoked: async (token: Token) => !refreshTokens.has(hashOf(token.refreshToken ?? '')),
  async getByRefreshToken(token: string) {
    const found = refreshTokens.get(hashOf(token))
    if (found === undefined) throw new Error('The refresh token is unknown')
    return found
  },
  getByAccessToken: async (token: string) => accessTokens.get(hashOf(token)),
}

const scopeRepository = {
  getAllByIdentifiers: async (names: readonly string[]) => scopes.filter(({ name }) => names.includes(name)),
  finalize: async (granted: Token['scopes']) => granted,
}

const key = createPrivateKey({ key: setting.signingKey, format: 'jwk' })
const { alg, kid } = setting.signingKey
const signOptions = { algorithm: alg, keyid: kid, header: { typ: 'at+jwt', alg } }
const withoutUndefined = (payload: object): object => JSON.parse(JSON.stringify(payload))

const jwt = {
  async sign(payload: { readonly cid: string; readonly jti: string }) {
    return payload.cid === o.jwtClient[0] ? jsonwebtoken.sign(withoutUndefined(payload), key, signOptions) : payload.jti
  },
  async verify(token: string) {
    const found = accessTokens.get(hashOf(token))
    if (found === undefined) throw new Error('The access token is unknown')
    return {
      iss: o.issuer,
      aud: o.audience,
      exp: Math.ceil(found.accessTokenExpiresAt.getTime() / 1000),
      sub: found.user?.id,
      jti: found.accessToken,
    }
  },
  decode: () => null,
  extraTokenFields: ({ client }: { readonly client: Client }) => ({ client_id: client.id, aud: o.audience }),
}

const lifetime = new DateInterval(`${o.accessTokenLifetime}s`)
const authorizationServer = new AuthorizationServer(clientRepository, tokenRepository, scopeRepository, jwt, {
  issuer: o.issuer,
  tokenCID: 'id',
  useOpaqueRefreshTokens: true,
  authenticateIntrospect: true,
})
authorizationServer.enableGrantTypes(
  ['client_credentials', lifetime],
  ['refresh_token', lifetime],
  [
    {
      grant: 'password',
      userRepository: {
        getUserByCredentials: async (username: string, password: string) =>
          username === o.user.username && password === o.user.password ? { id: o.user.sub } : undefined,
      },
    },
    lifetime,
  ],
)

const listener = (respond: (request: object) => Promise<object>) => async (request: object, reply: Reply) => {
  try {
    handleFastifyReply(reply, await respond(requestFromFastify(request)))
  } catch (error) {
    handleFastifyError(error, reply)
  }
  return reply
}
const app = fastify({ logger: false })
app.register(formbody)
app.post(
  o.paths.token,
  listener((request) => authorizationServer.respondToAccessTokenRequest(request)),
)
app.post(
  o.paths.introspection,
  listener((request) => authorizationServer.introspect(request)),
)
await app.listen({ port: 0, host: '127.0.0.1' })

async function newToken(granted: readonly string[], refresh: boolean): Promise<string> {
  const client = clientOf(o.opaqueClient)
  const token = await tokenRepository.issueToken(
    client,
    granted.map((name) => ({ name })),
    { id: o.user.sub },
  )
  token.accessTokenExpiresAt = lifetime.getEndDate()
  await tokenRepository.persist(token)
  if (refresh) await tokenRepository.issueRefreshToken(token)
  return (refresh ? token.refreshToken : token.accessToken) ?? ''
}
const { operation } = setting
const held = operation === 'introspection' || operation === 'refresh' ? o.heldScopes[operation] : undefined
const tokens: string[] = []
for (let count = 0; held !== undefined && count < setting.tokens; count += 1) {
  tokens.push(await newToken(held, operation === 'refresh'))
}
reportReady({ port: (app.server.address() as { port: number }).port, tokens })
