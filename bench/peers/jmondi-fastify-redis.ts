// @jmondi/oauth2-server on ioredis, as its user would write it: JSON records that expire, under the hash of their
// token, and one command for each method of a repository.
import { Redis } from 'ioredis'
import * as o from '../operations.ts'
import { readSetting } from '../setting.ts'
import { serveJmondi } from './jmondi-server.ts'
import {
  type AuthCode,
  clients,
  hashOf,
  newAuthCode,
  newToken,
  random,
  refreshLifetime,
  type Token,
} from './jmondi-store.ts'

interface TokenRecord {
  readonly clientId: string
  readonly userId?: string | undefined
  readonly scopes: readonly string[]
  readonly accessTokenExpiresAt: number
  readonly refreshTokenExpiresAt?: number | undefined
  /** Of a refresh token: the access token to revoke with it. */
  readonly accessKey?: string
}

const setting = readSetting()
const redis = new Redis(setting.storeUrl ?? '', { enableAutoPipelining: true })
const accessKeyOf = (token: string): string => `access:${hashOf(token)}`
const refreshKeyOf = (token: string): string => `refresh:${hashOf(token)}`
const codeKeyOf = (code: string): string => `code:${hashOf(code)}`

const save = (key: string, record: object, expiresAt: Date): Promise<unknown> =>
  redis.set(key, JSON.stringify(record), 'PX', expiresAt.getTime() - Date.now())

async function load<T>(key: string): Promise<T | undefined> {
  const text = await redis.get(key)
  return text === null ? undefined : JSON.parse(text)
}

const recordOf = ({ client, user, scopes, accessTokenExpiresAt, refreshTokenExpiresAt }: Token): TokenRecord => ({
  clientId: client.id,
  userId: user?.id,
  scopes: scopes.map(({ name }) => name),
  accessTokenExpiresAt: accessTokenExpiresAt.getTime(),
  refreshTokenExpiresAt: refreshTokenExpiresAt?.getTime(),
})

function clientOf(id: string) {
  const client = clients.get(id)
  if (client === undefined) throw new Error('The client is unknown')
  return client
}

const tokenOf = (record: TokenRecord): Token & { readonly accessKey?: string | undefined } => ({
  accessToken: '',
  accessTokenExpiresAt: new Date(record.accessTokenExpiresAt),
  client: clientOf(record.clientId),
  user: record.userId === undefined ? undefined : { id: record.userId },
  scopes: record.scopes.map((name) => ({ name })),
  accessKey: record.accessKey,
})

await serveJmondi(setting, {
  tokens: {
    issueToken: async (client, granted, user) => newToken(client, granted, user),
    async persist(token) {
      await save(accessKeyOf(token.accessToken), recordOf(token), token.accessTokenExpiresAt)
    },
    async issueRefreshToken(token) {
      token.refreshToken = random()
      token.refreshTokenExpiresAt = refreshLifetime.getEndDate()
      const record = { ...recordOf(token), accessKey: accessKeyOf(token.accessToken) }
      await save(refreshKeyOf(token.refreshToken), record, token.refreshTokenExpiresAt)
      return token
    },
    async revoke(token: ReturnType<typeof tokenOf>) {
      await redis.del(refreshKeyOf(token.refreshToken ?? ''), token.accessKey ?? '')
    },
    // A revoked token is deleted, so it would not have been found.
    isRefreshTokenRevoked: async () => false,
    async getByRefreshToken(refreshToken) {
      const record = await load<TokenRecord>(refreshKeyOf(refreshToken))
      if (record === undefined) throw new Error('The refresh token is unknown')
      return { ...tokenOf(record), refreshToken, refreshTokenExpiresAt: new Date(record.refreshTokenExpiresAt ?? 0) }
    },
    async getByAccessToken(accessToken) {
      const record = await load<TokenRecord>(accessKeyOf(accessToken))
      return record && { ...tokenOf(record), accessToken }
    },
  },
  codes: {
    async getByIdentifier(code) {
      const record = await load<TokenRecord & { readonly redirectUri: string }>(codeKeyOf(code))
      if (record === undefined) return undefined
      const { client, user, scopes, accessTokenExpiresAt } = tokenOf(record)
      return { code, client, user, scopes, redirectUri: record.redirectUri, expiresAt: accessTokenExpiresAt }
    },
    issueAuthCode: newAuthCode,
    async persist({ code, client, user, scopes, expiresAt, redirectUri }: AuthCode) {
      const record = recordOf({ accessToken: '', accessTokenExpiresAt: expiresAt, client, user, scopes })
      await save(codeKeyOf(code), { ...record, redirectUri }, expiresAt)
    },
    isRevoked: async (code) => (await redis.exists(codeKeyOf(code))) === 0,
    async revoke(code) {
      await redis.del(codeKeyOf(code))
    },
  },
  // `getByAccessToken` reads the record.
  claimsOf: (token) => ({ iss: o.issuer, aud: o.audience, jti: token }),
})
