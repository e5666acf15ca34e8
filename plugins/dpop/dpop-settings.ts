import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { wholeSeconds } from '../shared/config-schema.ts'

/** Algorithms of DPoP proofs. RFC 9449 section 4.3 requires asymmetric ones. */
const algorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const

const algorithm = v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)

export const settingsSchema = configurationObject({
  /** The accepted algorithms of proofs. */
  algorithms: v.optional(
    v.pipe(v.array(algorithm, 'must be an array of algorithms'), v.minLength(1, 'must not be empty'), v.readonly()),
    [...algorithms],
  ),
  /** Seconds after `iat` until which a proof is accepted. */
  maxAge: v.optional(wholeSeconds(10, 600), 60),
  /** Seconds by which the clock of a client may be ahead. */
  clockTolerance: v.optional(wholeSeconds(0, 60), 10),
  /**
   * Whether proofs must contain a nonce of this provider, so that they cannot be prepared in advance (RFC 9449 section
   * 8). The nonce then determines the age of a proof, not the clock of the client.
   */
  nonce: v.optional(v.boolean('must be true or false'), false),
  /** Seconds after which a new nonce is sent. The one before it remains valid. */
  nonceLifetime: v.optional(wholeSeconds(30, 3600), 300),
  /** Whose refresh tokens are bound. `public`: those of public clients; `all`: those of confidential clients, too. */
  bindRefreshTokens: v.optional(v.picklist(['public', 'all'], 'must be "public" or "all"'), 'public'),
})

export type DpopOptions = OptionsOf<typeof settingsSchema>
export type Settings = v.InferOutput<typeof settingsSchema>
