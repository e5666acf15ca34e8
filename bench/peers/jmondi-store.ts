import { hash, randomFillSync } from 'node:crypto'
import { DateInterval } from '@jmondi/oauth2-server'
import * as o from '../operations.ts'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Returns 32 random bytes as base64url from a pool. */
export function random(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 32
  return pool.toString('base64url', used - 32, used)
}

export const hashOf = (text: string): string => hash('sha256', text, 'hex')

export interface Scope {
  readonly name: string
}
export const scopes: readonly Scope[] = ['openid', 'profile', 'offline_access', 'api1'].map((name) => ({ name }))

const clientOf = ([id, secret]: readonly [string, string]) => ({
  id,
  name: id,
  secret: hashOf(secret),
  redirectUris: [o.redirectUri],
  allowedGrants: ['client_credentials', 'refresh_token', 'password', 'authorization_code'],
  scopes,
})
export type Client = ReturnType<typeof clientOf>
export const clients = new Map([o.opaqueClient, o.jwtClient, o.api].map((pair) => [pair[0], clientOf(pair)]))
export const webClient = clientOf(o.opaqueClient)

export interface User {
  readonly id: string
}

export interface Token {
  accessToken: string
  accessTokenExpiresAt: Date
  refreshToken?: string | null
  refreshTokenExpiresAt?: Date
  readonly client: Client
  readonly user: User | undefined
  readonly scopes: readonly Scope[]
}

export interface AuthCode {
  readonly code: string
  redirectUri: string
  expiresAt: Date
  readonly user: User | undefined
  readonly client: Client
  scopes: readonly Scope[]
}

export const refreshLifetime = new DateInterval('30d')

export const newToken = (client: Client, granted: readonly Scope[], user: User | undefined): Token => ({
  accessToken: random(),
  accessTokenExpiresAt: new Date(),
  client,
  user,
  scopes: granted,
})

export const newAuthCode = (client: Client, user: User | undefined, granted: readonly Scope[]): AuthCode => ({
  code: random(),
  redirectUri: o.redirectUri,
  expiresAt: new Date(Date.now() + o.codeLifetime * 1000),
  client,
  user,
  scopes: granted,
})

/** The repositories of @jmondi/oauth2-server that need a store. */
export interface JmondiStore {
  readonly tokens: {
    issueToken(client: Client, granted: readonly Scope[], user: User | undefined): Promise<Token>
    persist(token: Token): Promise<void>
    issueRefreshToken(token: Token): Promise<Token>
    revoke(token: Token): Promise<void>
    isRefreshTokenRevoked(token: Token): Promise<boolean>
    getByRefreshToken(token: string): Promise<Token>
    getByAccessToken(token: string): Promise<Token | undefined>
  }
  readonly codes: {
    getByIdentifier(code: string): Promise<AuthCode | undefined>
    issueAuthCode(client: Client, user: User | undefined, granted: readonly Scope[]): AuthCode
    persist(code: AuthCode): Promise<void>
    isRevoked(code: string): Promise<boolean>
    revoke(code: string): Promise<void>
  }
  /** Returns the claims of a reference token for its introspection. */
  claimsOf(token: string): object
}
