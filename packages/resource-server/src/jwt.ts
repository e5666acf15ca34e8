import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { compactVerify } from 'jose/jws/compact/verify'
import type { Context } from './context.ts'
import { parseExactJson } from './exact-json.ts'
import { createPublishedKeys, type FindKeys, keysOf } from './issuer-keys.ts'
import { algorithms, assertMembers, internalUrl, safeUrl, seconds, texts } from './option-checks.ts'
import { isRefused, type Refused, refused } from './refusal.ts'
import { type Claims, claimsProblem } from './token-claims.ts'

/** How JWT access tokens are validated. */
export interface JwtOptions {
  /** The public keys of the issuer, instead of those that it publishes. */
  readonly jwks?: JSONWebKeySet | undefined
  /** Where the issuer publishes its keys. Default: the `jwks_uri` in its metadata. */
  readonly jwksUri?: string | undefined
  /**
   * Allows `http` in `jwksUri` for a host of the internal network: a private address, a name without a dot, or one in
   * `internal`, `local`, `svc`, `lan`. An attacker in that network could replace the keys. Default: false.
   */
  readonly allowInternalHttp?: boolean | undefined
  /** The accepted algorithms. Default: `ES256`, `PS256`, `RS256`, `EdDSA`, `Ed25519`. */
  readonly algorithms?: readonly string[] | undefined
  /**
   * The accepted values of `typ`. Default: `at+jwt` (RFC 9068 section 4). Issuers that do not follow RFC 9068 need `JWT`,
   * which includes tokens without `typ`. Then an identity token for this audience is an access token, too.
   */
  readonly types?: readonly string[] | undefined
  /** Seconds after which the keys are fetched again: how long a removed key is accepted. Default: 600. */
  readonly maxAge?: number | undefined
  /** Seconds after `maxAge` for which the keys are used while they cannot be fetched. Default: 3600. */
  readonly maxStale?: number | undefined
  /** Seconds between two fetches that tokens with unknown keys cause. Default: 30. */
  readonly cooldown?: number | undefined
}

/** Returns the claims of a valid token. */
export type ValidateToken = (token: string) => Promise<{ readonly claims: Claims } | Refused>

const optionNames = ['jwks', 'jwksUri', 'allowInternalHttp', 'algorithms', 'types', 'maxAge', 'maxStale', 'cooldown']

/** RFC 7515 section 4.1.9: `application/` can be omitted. RFC 9068 section 4 compares the rest without case. */
const normalType = (type: string): string => type.toLowerCase().replace(/^application\//u, '')

function headerOf(jwt: string): JWSHeaderParameters | undefined {
  try {
    return decodeProtectedHeader(jwt)
  } catch {
    return undefined
  }
}

/** RFC 7515 section 7.1, without padding, which decoders ignore. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

/**
 * Whether a token begins as a signed JWT does, also if it is malformed. All other tokens are reference tokens, also
 * encrypted JWTs.
 */
export function isJwt(token: string): boolean {
  const [header, ...rest] = token.split('.')
  const { alg, enc } = headerOf(`${header}..`) ?? {}
  return rest.length > 0 && alg !== undefined && enc === undefined
}

function payloadOf(payload: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Returns the payload if one of the keys has signed it. */
async function verified(jwt: string, keys: readonly CryptoKey[], allowed: readonly string[]) {
  for (const key of keys) {
    try {
      return (await compactVerify(jwt, key, { algorithms: [...allowed] })).payload
    } catch {
      // Another key, or a key or header that cannot be used.
    }
  }
  return refused('signature_mismatch')
}

/**
 * Validates JWT access tokens.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 9068 section 4
 */
export function createValidateJwt(
  options: JwtOptions,
  { rules, issuers, fetchJson, metadata, maxWait }: Context,
): ValidateToken {
  assertMembers(options, optionNames, 'jwt')
  const { jwks, jwksUri, allowInternalHttp = false } = options
  if (typeof allowInternalHttp !== 'boolean') throw new TypeError('jwt.allowInternalHttp must be true or false')
  if (allowInternalHttp && jwksUri === undefined) throw new TypeError('jwt.allowInternalHttp requires jwt.jwksUri')
  if (jwks !== undefined && jwksUri !== undefined) throw new TypeError('jwt must not have both jwks and jwksUri')
  const allowed = algorithms(options.algorithms, ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'], 'jwt.algorithms')
  const types = texts(options.types ?? ['at+jwt'], 'jwt.types').map(normalType)
  const times = {
    maxAge: seconds(options.maxAge, 600, [1, 86_400], 'jwt.maxAge'),
    maxStale: seconds(options.maxStale, 3600, [0, 604_800], 'jwt.maxStale'),
    cooldown: seconds(options.cooldown, 30, [1, 3600], 'jwt.cooldown'),
    maxWait,
    now: rules.now,
    owns: issuers.ownsKey,
  }

  function createKeys(): (renew?: 'renew') => Promise<FindKeys> {
    if (jwks !== undefined) {
      const configured = Promise.resolve(keysOf({ keys: jwks.keys.filter((key) => issuers.ownsKey({ ...key })) }))
      return () => configured
    }
    if (jwksUri !== undefined) {
      const uri = Promise.resolve((allowInternalHttp ? internalUrl : safeUrl)(jwksUri, 'jwt.jwksUri'))
      return createPublishedKeys(() => uri, fetchJson, times)
    }
    const find = metadata()
    return createPublishedKeys(() => find('jwks_uri'), fetchJson, times)
  }

  const publishedKeys = createKeys()

  async function verify(jwt: string, header: JWSHeaderParameters, find: FindKeys): Promise<Uint8Array | Refused> {
    const keys = await find(header).catch(() => [])
    return keys.length === 0 ? refused('key_unknown') : verified(jwt, keys, allowed)
  }

  /** Verifies the signature. If no key fits, the issuer may have published another one. */
  async function verifySignature(jwt: string, header: JWSHeaderParameters): Promise<Uint8Array | Refused> {
    try {
      const keys = await publishedKeys()
      const outcome = await verify(jwt, header, keys)
      if (!isRefused(outcome)) return outcome
      const renewed = await publishedKeys('renew')
      return renewed === keys ? outcome : await verify(jwt, header, renewed)
    } catch (error) {
      return refused('keys_unavailable', error)
    }
  }

  return async (jwt) => {
    const header = compactForm.test(jwt) ? headerOf(jwt) : undefined
    if (header === undefined) return refused('token_malformed')
    const { alg, typ = 'JWT' } = header
    if (typeof typ !== 'string' || !types.includes(normalType(typ))) return refused('typ_unsupported')
    if (alg === undefined || !allowed.includes(alg)) return refused('algorithm_not_allowed')
    const payload = await verifySignature(jwt, header)
    if (isRefused(payload)) return payload
    const claims = payloadOf(payload)
    if (claims === undefined) return refused('claims_malformed')
    const problem = claimsProblem(claims, ['iss', 'aud', 'exp'], rules)
    return problem === undefined ? { claims } : refused(problem)
  }
}
