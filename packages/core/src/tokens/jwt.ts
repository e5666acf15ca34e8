import { decodeBase64url, decodeUtf8, utf8 } from '../encoding.ts'
import type { Json, JsonObject, MaybePromise } from '../json.ts'
import type { KeyRing, RingKey } from '../keys/key-ring.ts'
import { isThenable } from '../promises.ts'
import type { Runtime, SigningAlgorithm } from '../runtime.ts'

/** `typ` of the two kinds of JWT, so that one is never taken for the other (RFC 9068 section 2.1; RFC 8725 section 3.11). */
export type TokenType = 'at+jwt' | 'JWT'

export const longestJwt = 51_200

// RFC 7515 section 5.2: no white space, no padding. A decoder that forgives them gives one token many spellings.
const compactForm = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/u

/** Signs and verifies with the provider's own keys. */
export interface Jwt {
  /** @param algorithm the usual one unless said otherwise */
  sign(claims: JsonObject, type: TokenType, algorithm?: SigningAlgorithm): Promise<string>
  /**
   * The claims, or `undefined` for whatever reason. Issuer, type, algorithm and times are judged; audience and the rest are the caller's.
   *
   * @param tolerance seconds by which the times may be missed; that of the provider unless said otherwise
   */
  verify(token: string, type: TokenType, tolerance?: number): Promise<JsonObject | undefined>
}

/** What a part of a JWS holds; `undefined` for anything but a JSON object in UTF-8. */
function objectIn(part: string): JsonObject | undefined {
  const bytes = decodeBase64url(part)
  const text = bytes && decodeUtf8(bytes)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    // What a stranger hands in need not be JSON.
    return undefined
  }
}

/** RFC 7515 section 4.1.9: the case does not count, and `application/` is left out. */
const mediaType = (type: Json | undefined): string | undefined =>
  typeof type === 'string' ? type.toLowerCase().replace(/^application\//u, '') : undefined

/** What a JWT of ours would say if its signature were right: for whoever looks at it, and never for a decision. */
export function decodeJwt(token: string): { readonly type: TokenType; readonly claims: JsonObject } | undefined {
  if (token.length > longestJwt) return undefined
  const [, header = '', payload = ''] = compactForm.exec(token) ?? []
  const [head, claims] = [objectIn(header), objectIn(payload)]
  if (head === undefined || claims === undefined) return undefined
  return { type: mediaType(head.typ) === 'at+jwt' ? 'at+jwt' : 'JWT', claims }
}

export function createJwt(deps: {
  readonly issuer: string
  readonly keys: KeyRing
  readonly clockTolerance: number
  readonly runtime: Runtime
}): Jwt {
  const { issuer, keys, clockTolerance, runtime } = deps
  /** Written once for each key; a key that leaves the ring takes them with it. */
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

  /** The key that a header names. An extension that must be understood is none of ours. */
  function keyFor(header: JsonObject | undefined, type: TokenType): MaybePromise<RingKey | undefined> {
    if (header === undefined || header.crit !== undefined || typeof header.kid !== 'string') return undefined
    if (mediaType(header.typ) !== type.toLowerCase()) return undefined
    return keys.find(header.kid)
  }

  function isCurrent({ iss, exp, nbf, iat }: JsonObject, tolerance: number): boolean {
    if (iss !== issuer || typeof exp !== 'number' || typeof nbf !== 'number' || typeof iat !== 'number') return false
    const now = runtime.now()
    return nbf <= now + tolerance && exp > now - tolerance
  }

  return {
    async sign(claims, type, algorithm) {
      const signer = keys.signer(algorithm)
      const key = isThenable(signer) ? await signer : signer
      const signed = `${headersOf(key)[type]}.${runtime.base64url(JSON.stringify(claims))}`
      return `${signed}.${runtime.base64url(await key.sign(utf8(signed)))}`
    },

    async verify(token, type, tolerance = clockTolerance) {
      if (token.length > longestJwt) return undefined
      const [, header = '', payload = '', end = ''] = compactForm.exec(token) ?? []
      const signature = decodeBase64url(end)
      // The last character of base64url may hold bits that count for nothing: other spellings of one signature.
      if (signature === undefined || runtime.base64url(signature) !== end) return undefined
      const named = objectIn(header)
      const found = keyFor(named, type)
      const key = isThenable(found) ? await found : found
      // A key verifies its own algorithm only, whatever the header asks for.
      if (key === undefined || key.algorithm !== named?.alg) return undefined
      if (!(await key.verify(utf8(`${header}.${payload}`), signature))) return undefined
      const claims = objectIn(payload)
      return claims !== undefined && isCurrent(claims, tolerance) ? claims : undefined
    },
  }
}
