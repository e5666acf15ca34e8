import { createHash, createPrivateKey, hash, randomFillSync, sign, timingSafeEqual } from 'node:crypto'
import * as o from '../operations.ts'
import type { Setting } from '../setting.ts'
import { subOf } from '../users.ts'

/** Headers of every response, besides the length. */
export const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
} as const

const poolSize = 4096

/** Returns random bytes as base64url from a pool: a system call for each would cost 3 microseconds. */
function createRandom(): (bytes: number) => string {
  const pool = Buffer.alloc(poolSize)
  let used = poolSize
  return (bytes) => {
    if (used + bytes > poolSize) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return pool.toString('base64url', used - bytes, used)
  }
}

/** Stores tokens under their hash, so that a stolen store reveals none and lookups leak no timing. */
export const keyOf = (token: string): string => hash('sha256', token, 'hex')

export interface Claims {
  readonly exp: number
  readonly scope: string
  readonly client_id: string
  readonly sub?: string
  /** Of a code. */
  readonly redirect_uri?: string
  readonly spent?: true
}

/** A value to store for its lifetime in seconds. */
export interface Item {
  readonly key: string
  readonly value: string
  readonly lifetime: number
}

export const refreshLifetime = 2_592_000

const now = (): number => Math.floor(Date.now() / 1000)

/** Parses a stored record that is valid, for this client if one is given. */
export function liveClaims(value: string | null | undefined, clientId?: string): Claims {
  const claims = JSON.parse(value ?? 'null') as Claims | null
  if (claims === null || claims.exp <= now()) throw new Error('invalid_token')
  if (clientId !== undefined && (claims.client_id !== clientId || claims.spent)) throw new Error('invalid_grant')
  return claims
}

export const introspectionResponse = (claims: Claims, scope: string): string =>
  JSON.stringify({ ...claims, active: true, token_type: 'Bearer', scope })

export function userinfoResponse({ sub, scope }: Claims): string {
  if (!scope.startsWith('openid')) throw new Error('insufficient_scope')
  return JSON.stringify({ sub, ...o.user.claims })
}

/** Checks the password, without hashing it. */
export function loginOf(parameters: URLSearchParams): string {
  const sub = subOf(parameters.get('username'), parameters.get('password'))
  if (sub === undefined) throw new Error('invalid_grant')
  return sub
}

export const checkRedirect = (parameters: URLSearchParams, claims: Claims): void => {
  if (parameters.get('redirect_uri') !== claims.redirect_uri) throw new Error('invalid_grant')
}

/** The steps of the limit that need no store. */
export interface LimitParts {
  /** Parses the Basic header, hashes the secret and compares it in constant time. */
  authenticate(authorization: string): string
  /** Returns a token and its item; a signed token has none. */
  accessToken(clientId: string, scope: string, sub?: string): { readonly token: string; readonly item?: Item }
  refreshToken(clientId: string, scope: string, sub: string): { readonly token: string; readonly item: Item }
  code(clientId: string, scope: string, sub: string): { readonly token: string; readonly item: Item }
  response(accessToken: string, scope: string, refreshToken?: string): string
}

/**
 * Every step uses the fastest known way on Node: one-shot hashes, pooled random bytes, signing without the thread pool,
 * records as JSON.
 */
export function createLimitParts(setting: Setting): LimitParts {
  const random = createRandom()
  const secrets = new Map(
    [o.opaqueClient, o.jwtClient, o.api].map(([id, secret]) => [id, createHash('sha256').update(secret).digest()]),
  )
  const key = createPrivateKey({ key: setting.signingKey, format: 'jwk' })
  const { alg, kid } = setting.signingKey
  const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid })).toString('base64url')

  function claimsOf(clientId: string, scope: string, sub: string | undefined) {
    const iat = now()
    return {
      iss: o.issuer,
      aud: o.audience,
      iat,
      nbf: iat,
      exp: iat + o.accessTokenLifetime,
      jti: random(16),
      client_id: clientId,
      scope,
      ...(sub !== undefined && { sub, auth_time: iat, idp: 'local', amr: ['pwd'] }),
    }
  }

  function stored(record: object, lifetime: number) {
    const token = random(32)
    return { token, item: { key: keyOf(token), value: JSON.stringify(record), lifetime } }
  }

  return {
    authenticate(authorization) {
      const pair = Buffer.from(authorization.slice(6), 'base64').toString()
      const colon = pair.indexOf(':')
      const id = pair.slice(0, colon)
      const known = secrets.get(id)
      // On Node 20, hash() is slower with Buffer output than with hex.
      const presented = Buffer.from(hash('sha256', pair.slice(colon + 1), 'hex'), 'hex')
      if (known === undefined || !timingSafeEqual(known, presented)) throw new Error('invalid_client')
      return id
    },
    accessToken(clientId, scope, sub) {
      const claims = claimsOf(clientId, scope, sub)
      if (clientId !== o.jwtClient[0]) return stored(claims, o.accessTokenLifetime)
      const input = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
      return { token: `${input}.${signature.toString('base64url')}` }
    },
    refreshToken: (clientId, scope, sub) =>
      stored(
        { client_id: clientId, scope, sub, auth_time: now(), amr: ['pwd'], exp: now() + refreshLifetime },
        refreshLifetime,
      ),
    code: (clientId, scope, sub) =>
      stored(
        { client_id: clientId, scope, sub, auth_time: now(), redirect_uri: o.redirectUri, exp: now() + o.codeLifetime },
        o.codeLifetime,
      ),
    response: (accessToken, scope, refreshToken) =>
      JSON.stringify({
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: o.accessTokenLifetime,
        scope,
        refresh_token: refreshToken,
      }),
  }
}

/** Returns the parts of the item that an operation presents, issued to the user. */
export function issuedItem(parts: LimitParts, operation: o.PresentingOperation) {
  const [clientId] = o.opaqueClient
  const scope = o.issuedScopes[operation].join(' ')
  if (operation === 'refresh') return parts.refreshToken(clientId, scope, o.user.sub)
  if (operation === 'authorization-code') return parts.code(clientId, scope, o.user.sub)
  return parts.accessToken(clientId, scope, o.user.sub)
}
