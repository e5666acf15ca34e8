import { createHash, createPrivateKey, hash, randomFillSync, sign, timingSafeEqual } from 'node:crypto'
import * as o from '../operations.ts'
import type { Setting } from '../setting.ts'

/**
 * The minimal work of a correct server for each operation, without protocol checks: the reference for the other
 * servers. Every step uses the fastest known way on Node: one-shot hashes, pooled random bytes, signing without the
 * thread pool, records as JSON in a map.
 */
export interface Limit {
  token(authorization: string, form: string): string
  introspection(authorization: string, form: string): string
  userinfo(authorization: string): string
  /** Tokens to present, stored as if they were issued. */
  readonly tokens: readonly string[]
}

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
const keyOf = (token: string): string => hash('sha256', token, 'hex')

interface Claims {
  readonly exp: number
  readonly scope: string
  readonly client_id: string
  readonly sub?: string
  readonly spent?: true
}

export function createLimit(setting: Setting): Limit {
  const random = createRandom()
  const store = new Map<string, string>()
  const secrets = new Map(
    [o.opaqueClient, o.jwtClient, o.api].map(([id, secret]) => [id, createHash('sha256').update(secret).digest()]),
  )
  const key = createPrivateKey({ key: setting.signingKey, format: 'jwk' })
  const { alg, kid } = setting.signingKey
  const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid })).toString('base64url')
  const now = (): number => Math.floor(Date.now() / 1000)

  /** Parses the Basic header, hashes the secret and compares it in constant time. */
  function authenticate(authorization: string): string {
    const pair = Buffer.from(authorization.slice(6), 'base64').toString()
    const colon = pair.indexOf(':')
    const id = pair.slice(0, colon)
    const stored = secrets.get(id)
    // On Node 20, hash() is slower with Buffer output than with hex.
    const presented = Buffer.from(hash('sha256', pair.slice(colon + 1), 'hex'), 'hex')
    if (stored === undefined || !timingSafeEqual(stored, presented)) throw new Error('invalid_client')
    return id
  }

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

  function newAccessToken(clientId: string, scope: string, sub?: string): string {
    const claims = claimsOf(clientId, scope, sub)
    if (clientId === o.jwtClient[0]) {
      const input = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
      return `${input}.${signature.toString('base64url')}`
    }
    const token = random(32)
    store.set(keyOf(token), JSON.stringify(claims))
    return token
  }

  function newRefreshToken(clientId: string, scope: string, sub: string): string {
    const token = random(32)
    const record = { client_id: clientId, scope, sub, auth_time: now(), amr: ['pwd'], exp: now() + 2_592_000 }
    store.set(keyOf(token), JSON.stringify(record))
    return token
  }

  function liveAt(storedKey: string): Claims {
    const claims = JSON.parse(store.get(storedKey) ?? 'null') as Claims | null
    if (claims === null || claims.exp <= now()) throw new Error('invalid_token')
    return claims
  }
  const live = (token: string): Claims => liveAt(keyOf(token))

  const response = (accessToken: string, scope: string, refreshToken?: string): string =>
    JSON.stringify({
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: o.accessTokenLifetime,
      scope,
      refresh_token: refreshToken,
    })

  function token(authorization: string, form: string): string {
    const parameters = new URLSearchParams(form)
    const clientId = authenticate(authorization)
    const grantType = parameters.get('grant_type')
    // Client credentials: only a new token, stored under its hash or signed.
    if (grantType === 'client_credentials') {
      const scope = parameters.get('scope') ?? ''
      return response(newAccessToken(clientId, scope), scope)
    }
    // Refresh with rotation: reads the record by its hash, marks it as spent to detect a replay, and stores a new
    // refresh record and a new access record.
    if (grantType === 'refresh_token') {
      const presented = parameters.get('refresh_token') ?? ''
      const presentedKey = keyOf(presented)
      const record = liveAt(presentedKey)
      const { scope, sub = '' } = record
      if (record.client_id !== clientId || record.spent) throw new Error('invalid_grant')
      store.set(presentedKey, JSON.stringify({ ...record, spent: true }))
      return response(newAccessToken(clientId, scope, sub), scope, newRefreshToken(clientId, scope, sub))
    }
    // Password without password hashing: two comparisons, a new refresh record and a new access record.
    if (parameters.get('username') !== o.user.username || parameters.get('password') !== o.user.password) {
      throw new Error('invalid_grant')
    }
    const scope = parameters.get('scope') ?? ''
    return response(newAccessToken(clientId, scope, o.user.sub), scope, newRefreshToken(clientId, scope, o.user.sub))
  }

  const { operation } = setting
  const held = operation === 'introspection' || operation === 'userinfo' || operation === 'refresh'
  const tokens = Array.from({ length: held ? setting.tokens : 0 }, () => {
    if (operation === 'refresh') {
      return newRefreshToken(o.opaqueClient[0], o.heldScopes.refresh.join(' '), o.user.sub)
    }
    const scopes = operation === 'userinfo' ? o.heldScopes.userinfo : o.heldScopes.introspection
    return newAccessToken(o.opaqueClient[0], scopes.join(' '), o.user.sub)
  })

  return {
    token,
    tokens,
    // Introspection: verifies the secret, hashes the token, reads one record, checks its expiry and returns the claims.
    introspection(authorization, form) {
      const scope = authenticate(authorization)
      const claims = live(new URLSearchParams(form).get('token') ?? '')
      return JSON.stringify({ ...claims, active: true, token_type: 'Bearer', scope })
    },
    // Userinfo: hashes the token, reads one record and checks its expiry; the user's claims are constant.
    userinfo(authorization) {
      const { sub, scope } = live(authorization.slice(7))
      if (!scope.startsWith('openid')) throw new Error('insufficient_scope')
      return JSON.stringify({ sub, ...o.user.claims })
    },
  }
}
