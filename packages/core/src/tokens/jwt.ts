import { isJsonObject } from '../json.ts'
import type { KeyRing, RingKey } from '../keys/key-ring.ts'
import { decodeBase64url, decodeUtf8, type Runtime, type SigningAlgorithm, utf8 } from '../runtime.ts'
import type { Json, JsonObject } from '../types.ts'

/**
 * The `typ` of access tokens and identity tokens, which prevents using one as the other (RFC 9068 section 2.1; RFC 8725
 * section 3.11).
 */
export type TokenType = 'at+jwt' | 'JWT'

/** The `typ` of JWTs that are not tokens of the provider (RFC 8725 section 3.11). */
export const foreignType = /^(?!at\+)[a-z\d][a-z\d.-]{0,50}\+jwt$/u

export const maxJwtLength = 51_200

// RFC 7515 section 5.2: no white space, no padding. A lenient decoder would accept many spellings of one token.
const compactForm = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/u

/** Signs and verifies JWTs with the keys of the provider. */
export interface Jwt {
  /** @param algorithm default: the first algorithm of the key ring */
  sign(claims: JsonObject, type: TokenType, algorithm?: SigningAlgorithm): Promise<string>
  /**
   * Signs a JWT that is not a token of the provider, so `verify` never accepts it.
   *
   * @param algorithm default: the first algorithm of the key ring
   */
  signOther(claims: JsonObject, typ: string, algorithm?: SigningAlgorithm): Promise<string>
  /**
   * Returns the claims, or `undefined` if the JWT is not valid. Checks the signature, issuer, type, algorithm and
   * times; the caller checks the audience and other claims.
   *
   * @param tolerance clock tolerance in seconds; default: that of the provider
   */
  verify(token: string, type: TokenType, tolerance?: number): Promise<JsonObject | undefined>
}

/** Decodes a part of a JWS; returns `undefined` if it is not a JSON object in UTF-8. */
function objectIn(part: string): JsonObject | undefined {
  const bytes = decodeBase64url(part)
  const text = bytes && decodeUtf8(bytes)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? (value as JsonObject) : undefined
  } catch {
    // Input from callers may not be JSON.
    return undefined
  }
}

/** RFC 7515 section 4.1.9: compared case-insensitively and without `application/`. */
const mediaType = (type: Json | undefined): string | undefined =>
  typeof type === 'string' ? type.toLowerCase().replace(/^application\//u, '') : undefined

/** Decodes a JWT without verifying it. For display only, never for an access decision. */
export function decodeJwt(token: string): { readonly type: TokenType; readonly claims: JsonObject } | undefined {
  if (token.length > maxJwtLength) return undefined
  const parts = compactForm.exec(token)
  // Most texts are none. The error of `JSON.parse()` would take ten microseconds.
  if (parts === null) return undefined
  const [, header = '', payload = ''] = parts
  const [head, claims] = [objectIn(header), objectIn(payload)]
  if (head === undefined || claims === undefined) return undefined
  return { type: mediaType(head.typ) === 'at+jwt' ? 'at+jwt' : 'JWT', claims }
}

/** Seconds by which the clock of another process of this provider may be ahead: its tokens begin now, by that clock. */
const maxAhead = 5

export function createJwt(deps: {
  readonly issuer: string
  readonly keys: KeyRing
  readonly clockTolerance: number
  readonly runtime: Runtime
}): Jwt {
  const { issuer, keys, clockTolerance, runtime } = deps
  /** Encoded headers, cached for each key. */
  const headers = new WeakMap<RingKey, Readonly<Record<TokenType, string>>>()
  const headersOf = (key: RingKey): Readonly<Record<TokenType, string>> => {
    const known = headers.get(key)
    if (known !== undefined) return known
    const headerOf = (typ: TokenType): string =>
      runtime.base64url(JSON.stringify({ alg: key.algorithm, kid: key.kid, typ }))
    const written = { 'at+jwt': headerOf('at+jwt'), JWT: headerOf('JWT') }
    headers.set(key, written)
    return written
  }

  /** Finds the key for a header. Rejects headers with `crit`: no critical extension is supported. */
  async function keyFor(header: JsonObject | undefined, type: TokenType): Promise<RingKey | undefined> {
    if (header === undefined || header.crit !== undefined || typeof header.kid !== 'string') return undefined
    if (mediaType(header.typ) !== type.toLowerCase()) return undefined
    return keys.find(header.kid)
  }

  function isCurrent({ iss, exp, nbf, iat }: JsonObject, tolerance: number): boolean {
    if (iss !== issuer || typeof exp !== 'number' || typeof nbf !== 'number' || typeof iat !== 'number') return false
    const now = runtime.now()
    return nbf <= now + Math.max(tolerance, maxAhead) && exp > now - tolerance
  }

  return {
    async sign(claims, type, algorithm) {
      const key = await keys.signer(algorithm)
      const signed = `${headersOf(key)[type]}.${runtime.base64url(JSON.stringify(claims))}`
      return `${signed}.${runtime.base64url(await key.sign(utf8(signed)))}`
    },

    async signOther(claims, typ, algorithm) {
      const key = await keys.signer(algorithm)
      const header = runtime.base64url(JSON.stringify({ alg: key.algorithm, kid: key.kid, typ }))
      const signed = `${header}.${runtime.base64url(JSON.stringify(claims))}`
      return `${signed}.${runtime.base64url(await key.sign(utf8(signed)))}`
    },

    async verify(token, type, tolerance = clockTolerance) {
      if (token.length > maxJwtLength) return undefined
      const [, header = '', payload = '', end = ''] = compactForm.exec(token) ?? []
      const signature = decodeBase64url(end)
      // The last base64url character may contain unused bits, which would allow other spellings of the same signature.
      if (signature === undefined || runtime.base64url(signature) !== end) return undefined
      const named = objectIn(header)
      const key = await keyFor(named, type)
      // A key is used only with its own algorithm, whatever the header specifies.
      if (key === undefined || key.algorithm !== named?.alg) return undefined
      if (!(await key.verify(utf8(`${header}.${payload}`), signature))) return undefined
      const claims = objectIn(payload)
      return claims !== undefined && isCurrent(claims, tolerance) ? claims : undefined
    },
  }
}
