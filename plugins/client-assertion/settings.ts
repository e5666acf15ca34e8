import { configurationObject, type MaybePromise } from '@grantry/core'
import * as v from 'valibot'

/** Algorithms of `private_key_jwt`. `none` and the algorithms of a shared secret are not among them. */
export const signatureAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
  'Ed25519',
] as const

/** Algorithms of `client_secret_jwt`, with the least number of bytes of the secret (RFC 7518 section 3.2). */
export const secretAlgorithms = { HS256: 32, HS384: 48, HS512: 64 } as const

const algorithm = v.picklist(signatureAlgorithms, `must be one of ${signatureAlgorithms.join(', ')}`)

const seconds = (least: number, most: number) => {
  const message = `must be ${least} to ${most} seconds`
  return v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))
}

const functionSchema = <T>() => v.optional(v.custom<T>((value) => typeof value === 'function', 'must be a function'))

/** Sends the request for keys. Must not follow redirects. */
export type FetchKeys = (url: string, init: RequestInit) => Promise<Response>

export const jwksUriSettingsSchema = configurationObject({
  /** Seconds for the whole response. */
  timeout: v.optional(seconds(0.1, 30), 5),
  /** Bytes of the response. */
  maxSize: v.optional(v.pipe(v.number('must be a number of bytes'), v.minValue(1, 'must be 1 or more bytes')), 65_536),
  /** Seconds after which the keys are fetched again: how long a key is accepted that the client has removed. */
  maxAge: v.optional(seconds(1, 86_400), 600),
  /** Seconds between two attempts, when the keys cannot be fetched or an assertion names an unknown key. */
  cooldown: v.optional(seconds(1, 3600), 30),
  /** Allows IP addresses and names of the local network in `jwksUri`. */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
  /** Replaces the global `fetch`, for example to send requests through a proxy that blocks private addresses. */
  fetch: functionSchema<FetchKeys>(),
})

export const settingsSchema = configurationObject({
  /** The value that `aud` must have. */
  audience: v.optional(
    v.picklist(['issuer', 'issuer or token endpoint'], 'must be "issuer" or "issuer or token endpoint"'),
    'issuer',
  ),
  /** The URL of the token endpoint for `audience`. Default: the default path below the issuer. */
  tokenEndpoint: v.optional(v.pipe(v.string('must be a URL'), v.url('must be a URL'))),
  /** The algorithms of `private_key_jwt`. */
  algorithms: v.optional(
    v.pipe(v.array(algorithm, 'must be an array of algorithms'), v.minLength(1, 'must not be empty'), v.readonly()),
    ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'],
  ),
  /** Seconds from now to the latest `exp` that is accepted. */
  maxLifetime: v.optional(seconds(10, 3600), 300),
  /** Seconds of clock skew that are allowed for `exp`, `nbf` and `iat`. */
  clockTolerance: v.optional(seconds(0, 60), 10),
  jwksUri: v.optional(jwksUriSettingsSchema, {}),
  /**
   * Returns the secret of a client in plain text, and thereby enables `client_secret_jwt`. Called for every id that a
   * caller presents. The provider stores only hashes, with which an HMAC cannot be verified.
   */
  secretOf: functionSchema<(clientId: string) => MaybePromise<string | undefined>>(),
})

export type ClientAssertionOptions = v.InferInput<typeof settingsSchema>
export type Settings = v.InferOutput<typeof settingsSchema>
