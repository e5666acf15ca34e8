import { configurationObject, type MaybePromise, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, seconds } from '../shared/config-schema.ts'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'
import { algorithmsSchema } from '../shared/verify-jwt.ts'

/** The algorithms of `client_secret_jwt`, with the minimum length of the secret in bytes (RFC 7518 section 3.2). */
export const secretAlgorithms = { HS256: 32, HS384: 48, HS512: 64 } as const

/** Seconds. The longest that `maxLifetime` can allow. */
export const maxAssertionLifetime = 86_400

const audiences = ['issuer', 'issuer or endpoint'] as const
export type AcceptedAudience = (typeof audiences)[number]
export const audienceSchema = v.picklist(audiences, 'must be "issuer" or "issuer or endpoint"')

export const settingsSchema = configurationObject({
  /**
   * The value that `aud` must have, unless `tokenEndpointAuthAudience` of the client is set. `issuer`: the issuer, as one
   * string. `issuer or endpoint`: also the URL of the token endpoint or of the endpoint that is called, and a list of them.
   */
  audience: v.optional(audienceSchema, 'issuer or endpoint'),
  /** The URL of the token endpoint for `audience`, if a proxy gives it another one. Default: its URL, and its alias. */
  tokenEndpoint: v.optional(v.pipe(v.string('must be a URL'), v.url('must be a URL'))),
  /** The algorithms of `private_key_jwt`. */
  algorithms: algorithmsSchema,
  /** Seconds from now to the latest `exp` that is accepted. */
  maxLifetime: v.optional(seconds(10, maxAssertionLifetime), 3600),
  /** Seconds of clock skew that are allowed for `exp`, `nbf` and `iat`. */
  clockTolerance: v.optional(seconds(0, 60), 10),
  jwksUri: v.optional(jwksUriSettingsSchema, {}),
  /**
   * Returns the secret of a client in plain text, and thereby enables `client_secret_jwt`. Called for every id that a
   * caller presents. The provider stores only hashes, with which an HMAC cannot be verified.
   */
  secretOf: functionSchema<(clientId: string) => MaybePromise<string | undefined>>(),
})

export type ClientAssertionOptions = OptionsOf<typeof settingsSchema>
export type Settings = v.InferOutput<typeof settingsSchema>
