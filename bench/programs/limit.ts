import { createHash, createPrivateKey, hash, randomFillSync, sign, timingSafeEqual } from 'node:crypto'
import * as o from '../operations.ts'
import type { Setting } from '../setting.ts'

/**
 * The least that any correct server does for each operation, without a check of the protocol: the limit that the others are held against. Every
 * step is the fastest way known on Node: one-shot hashes, randomness from a pool, signing without the thread pool, records as JSON in a map.
 */
export interface Limit {
  token(authorization: string, form: string): string
  introspection(authorization: string, form: string): string
  userinfo(authorization: string): string
  /** Tokens to present, stored as if they had been issued. */
  readonly tokens: readonly string[]
}

/** What every answer of a token service carries beside its length. */
export const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
} as const

const poolSize = 4096

/** So many random bytes as base64url, out of a pool: a call to the system for each costs 3 microseconds. */
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

/** A key never repeats an other: hashing makes a stolen store worthless (and its lookup safe from timing). */
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

  /** Reads the Basic header, hashes the secret, compares in constant time. */
  function authenticate(authorization: string): string {
    const pair = Buffer.from(authorization.slice(6), 'base64').toString()
    const colon = pair.indexOf(':')
    const id = pair.slice(0, colon)
    const stored = secrets.get(id)
    // The Buffer form of hash() is slower than its text on Node 20.
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

  const answer = (accessToken: string, scope: string, refreshToken?: string): string =>
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
    // Client credentials: a new token, stored under its hash or signed, nothing else.
    if (grantType === 'client_credentials') {
      const scope = parameters.get('scope') ?? ''
      return answer(newAccessToken(clientId, scope), scope)
    }
    // Refresh with rotation: the record is read by its hash and marked as spent, so that a second use is known for what it is; a new refresh and a
    // new access record are stored.
    if (grantType === 'refresh_token') {
      const presented = parameters.get('refresh_token') ?? ''
      const presentedKey = keyOf(presented)
      const record = liveAt(presentedKey)
      const { scope, sub = '' } = record
      if (record.client_id !== clientId || record.spent) throw new Error('invalid_grant')
      store.set(presentedKey, JSON.stringify({ ...record, spent: true }))
      return answer(newAccessToken(clientId, scope, sub), scope, newRefreshToken(clientId, scope, sub))
    }
    // Password, without the hashing of it: two comparisons, a new refresh and a new access record.
    if (parameters.get('username') !== o.user.username || parameters.get('password') !== o.user.password) {
      throw new Error('invalid_grant')
    }
    const scope = parameters.get('scope') ?? ''
    return answer(newAccessToken(clientId, scope, o.user.sub), scope, newRefreshToken(clientId, scope, o.user.sub))
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
    // Introspection: the caller's secret, the token's hash, one read, its expiry; the claims are the answer.
    introspection(authorization, form) {
      const scope = authenticate(authorization)
      const claims = live(new URLSearchParams(form).get('token') ?? '')
      return JSON.stringify({ ...claims, active: true, token_type: 'Bearer', scope })
    },
    // Userinfo: the token's hash, one read, its expiry; the user's claims are at hand.
    userinfo(authorization) {
      const { sub, scope } = live(authorization.slice(7))
      if (!scope.startsWith('openid')) throw new Error('insufficient_scope')
      return JSON.stringify({ sub, ...o.user.claims })
    },
  }
}
