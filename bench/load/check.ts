import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { accessTokenLifetime, type Dialect, floorLength, type OperationName } from '../operations.ts'
import { claimsOf, isUser } from '../users.ts'
import type { ReceivedResponse } from './response-reader.ts'

/** Returns why a response is wrong, or `undefined`. */
type Check = (body: string) => string | undefined

const lacks = (body: string, ...parts: readonly string[]): string | undefined =>
  parts.find((part) => !body.includes(part))

const issuedBoth = ['"access_token":"', '"refresh_token":"', '"expires_in":3'] as const

/** The type is case-insensitive (RFC 6749 section 5.1). */
const bearer = ['"token_type":"', 'earer"'] as const

/** Text that every response must contain. No parsing: the generator handles a hundred thousand responses per second. */
const quickParts: Readonly<Record<OperationName, readonly string[]>> = {
  'client-credentials-opaque': ['"access_token":"', '"expires_in":3', ...bearer],
  'client-credentials-es256': ['"access_token":"eyJ', '"expires_in":3', ...bearer],
  'client-credentials-rs256': ['"access_token":"eyJ', '"expires_in":3', ...bearer],
  floor: ['"access_token":"', '"scope":"api1"'],
  introspection: ['"active":true', '"client_id":"web"'],
  userinfo: ['"sub":"', '"name":"'],
  'client-credentials-dpop': ['"access_token":"', '"expires_in":3', '"token_type":"DPoP"'],
  'userinfo-dpop': ['"sub":"1"', '"name":"Alice Smith"'],
  refresh: issuedBoth,
  password: issuedBoth,
  'password-5000-users': issuedBoth,
  'authorization-code': issuedBoth,
  'sign-in': ['"access_token":"', '"id_token":"eyJ', '"expires_in":3'],
}

const isToken = (token: unknown): boolean => typeof token === 'string' && token.length >= 32

const isOpaque = (token: unknown): boolean => isToken(token) && !String(token).includes('.')

function isSigned(token: unknown, key: JsonWebKey, algorithm: 'ES256' | 'RS256'): boolean {
  const [header = '', payload = '', signature = ''] = String(token).split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const { exp, iat, azp, client_id = azp, scope } = read(payload)
  if (read(header).alg !== algorithm || Math.abs(exp - iat - accessTokenLifetime) > 1) return false
  if (client_id !== 'web-jwt' || scope !== 'api1') return false
  return verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
}

/** Tokens must differ, to detect a server that responds from a cache. */
function createRepeatCheck(): (token: unknown) => boolean {
  const seen = new Set<unknown>()
  return (token) => seen.size === seen.add(token).size
}

const withoutRefreshToken: ReadonlySet<OperationName> = new Set<OperationName>([
  'client-credentials-opaque',
  'client-credentials-dpop',
  'sign-in',
])

function fullCheck(operation: OperationName, key: JsonWebKey, { ownTokens = false }: Dialect): Check {
  const isExpected = ownTokens ? isToken : isOpaque
  const isRepeated = createRepeatCheck()
  const problemOf = (response: Record<string, unknown>, body: string): string | undefined => {
    if (operation === 'introspection') return response.scope === 'api1' ? undefined : 'wrong scope'
    if (operation === 'userinfo' || operation === 'userinfo-dpop') {
      const sub = String(response.sub)
      const isRight = isUser(sub) && Object.entries(claimsOf(sub)).every(([name, value]) => response[name] === value)
      return isRight ? undefined : 'wrong claims'
    }
    const token = response.access_token
    if (operation === 'floor') return body.length === floorLength ? undefined : 'wrong length'
    // A peer rounds down the last second.
    if (Math.abs(Number(response.expires_in) - accessTokenLifetime) > 1) return 'wrong lifetime'
    if (isRepeated(token)) return 'a token that was issued before'
    if (operation === 'client-credentials-es256') return isSigned(token, key, 'ES256') ? undefined : 'a bad JWT'
    if (operation === 'client-credentials-rs256') return isSigned(token, key, 'RS256') ? undefined : 'a bad JWT'
    if (!isExpected(token)) return 'no opaque access token'
    if (withoutRefreshToken.has(operation)) return undefined
    return isExpected(response.refresh_token) && !isRepeated(response.refresh_token)
      ? undefined
      : 'no new refresh token'
  }
  return (body) => problemOf(JSON.parse(body), body)
}

/** One response in this many is parsed and its signature verified. */
const sample = 256

/** Creates a check that returns why a response is wrong, or `undefined`. */
export function createCheck(
  operation: OperationName,
  key: JsonWebKey,
  dialect: Dialect = {},
): (response: ReceivedResponse) => string | undefined {
  const parts = quickParts[operation]
  const full = fullCheck(operation, key, dialect)
  let count = 0
  return ({ status, body }) => {
    if (status !== 200) return `status ${status}: ${body.slice(0, 300)}`
    const lacking = lacks(body, ...parts)
    if (lacking !== undefined) return `without ${lacking}: ${body.slice(0, 300)}`
    count += 1
    if (count % sample !== 1) return undefined
    const problem = full(body)
    return problem && `${problem}: ${body.slice(0, 300)}`
  }
}
