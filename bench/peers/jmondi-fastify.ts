// @jmondi/oauth2-server with objects in maps, under the hash of their token.
import * as o from '../operations.ts'
import { readSetting } from '../setting.ts'
import { serveJmondi } from './jmondi-server.ts'
import { type AuthCode, hashOf, newAuthCode, newToken, random, refreshLifetime, type Token } from './jmondi-store.ts'

const accessTokens = new Map<string, Token>()
const refreshTokens = new Map<string, Token>()
const authCodes = new Map<string, AuthCode>()

await serveJmondi(readSetting(), {
  tokens: {
    issueToken: async (client, granted, user) => newToken(client, granted, user),
    async persist(token) {
      accessTokens.set(hashOf(token.accessToken), token)
    },
    async issueRefreshToken(token) {
      token.refreshToken = random()
      token.refreshTokenExpiresAt = refreshLifetime.getEndDate()
      refreshTokens.set(hashOf(token.refreshToken), token)
      return token
    },
    async revoke(token) {
      refreshTokens.delete(hashOf(token.refreshToken ?? ''))
    },
    isRefreshTokenRevoked: async (token) => !refreshTokens.has(hashOf(token.refreshToken ?? '')),
    async getByRefreshToken(token) {
      const stored = refreshTokens.get(hashOf(token))
      if (stored === undefined) throw new Error('The refresh token is unknown')
      return stored
    },
    getByAccessToken: async (token) => accessTokens.get(hashOf(token)),
  },
  codes: {
    getByIdentifier: async (code) => authCodes.get(hashOf(code)),
    issueAuthCode: newAuthCode,
    async persist(code) {
      authCodes.set(hashOf(code.code), code)
    },
    isRevoked: async (code) => !authCodes.has(hashOf(code)),
    async revoke(code) {
      authCodes.delete(hashOf(code))
    },
  },
  claimsOf(token) {
    const stored = accessTokens.get(hashOf(token))
    if (stored === undefined) throw new Error('The access token is unknown')
    return {
      iss: o.issuer,
      aud: o.audience,
      exp: Math.ceil(stored.accessTokenExpiresAt.getTime() / 1000),
      sub: stored.user?.id,
      jti: stored.accessToken,
    }
  },
})
