import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { accessTokenLifetime, floorLength, type OperationName, user } from '../operations.ts'
import type { Answer } from './answer-reader.ts'

/** Why an answer does not count, or `undefined`. */
type Check = (body: string) => string | undefined

const lacks = (body: string, ...parts: readonly string[]): string | undefined =>
  parts.find((part) => !body.includes(part))

/** What every answer must hold, without parsing: the generator has half a core for a hundred thousand of them a second. */
const quickParts: Readonly<Record<OperationName, readonly string[]>> = {
  'client-credentials-opaque': ['"access_token":"', '"expires_in":3', '"token_type":"Bearer"'],
  'client-credentials-es256': ['"access_token":"eyJ', '"expires_in":3', '"token_type":"Bearer"'],
  'client-credentials-rs256': ['"access_token":"eyJ', '"expires_in":3', '"token_type":"Bearer"'],
  floor: ['"access_token":"', '"scope":"api1"'],
  introspection: ['"active":true', '"client_id":"web"'],
  userinfo: ['"sub":"1"', '"name":"Alice Smith"'],
  refresh: ['"access_token":"', '"refresh_token":"', '"expires_in":3'],
  password: ['"access_token":"', '"refresh_token":"', '"expires_in":3'],
}

const isOpaque = (token: unknown): boolean => typeof token === 'string' && token.length >= 32 && !token.includes('.')

function isSigned(token: unknown, key: JsonWebKey, algorithm: 'ES256' | 'RS256'): boolean {
  const [header = '', payload = '', signature = ''] = String(token).split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const { exp, iat, client_id, scope } = read(payload)
  if (read(header).alg !== algorithm || Math.abs(exp - iat - accessTokenLifetime) > 1) return false
  if (client_id !== 'web-jwt' || scope !== 'api1') return false
  return verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
}

/** Tokens must differ: a server that answered from a cache would be fast. */
function createSeen(): (token: unknown) => boolean {
  const seen = new Set<unknown>()
  return (token) => seen.size === seen.add(token).size
}

function fullCheck(operation: OperationName, key: JsonWebKey): Check {
  const wasSeen = createSeen()
  const problemOf = (answer: Record<string, unknown>, body: string): string | undefined => {
    if (operation === 'introspection') return answer.scope === 'api1' ? undefined : 'another scope'
    if (operation === 'userinfo') {
      const claims = Object.entries(user.claims).every(([name, value]) => answer[name] === value)
      return claims ? undefined : 'other claims'
    }
    const token = answer.access_token
    if (operation === 'floor') return body.length === floorLength ? undefined : 'another length'
    // A peer rounds down what is left of the last second.
    if (Math.abs(Number(answer.expires_in) - accessTokenLifetime) > 1) return 'another lifetime'
    if (wasSeen(token)) return 'a token that was issued before'
    if (operation === 'client-credentials-es256') return isSigned(token, key, 'ES256') ? undefined : 'a bad JWT'
    if (operation === 'client-credentials-rs256') return isSigned(token, key, 'RS256') ? undefined : 'a bad JWT'
    if (!isOpaque(token)) return 'no opaque access token'
    if (operation === 'client-credentials-opaque') return undefined
    return isOpaque(answer.refresh_token) && !wasSeen(answer.refresh_token) ? undefined : 'no new refresh token'
  }
  return (body) => problemOf(JSON.parse(body), body)
}

/** One answer in so many is parsed, and a signature verified. */
const sample = 256

/** Says why an answer is wrong, or nothing. */
export function createCheck(operation: OperationName, key: JsonWebKey): (answer: Answer) => string | undefined {
  const parts = quickParts[operation]
  const full = fullCheck(operation, key)
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
