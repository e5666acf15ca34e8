import type { JsonObject, MaybePromise } from '../types.ts'
import type { Callers } from './endpoint.ts'
import type { Kit } from './kit.ts'

/** Another form of the JSON that an endpoint responds with, for callers that prefer it in `Accept`. */
export interface ResponseFormat {
  readonly kind: 'response-format'
  /** The name of the endpoint, such as `introspection`. */
  readonly endpoint: string
  /** The media type of the response: a subtype of `application`. */
  readonly mediaType: string
  /** The member of the discovery document that lists the algorithm of `kit.sign`, if `encode` signs. */
  readonly signingAlgorithms?: `${string}_signing_alg_values_supported` | undefined
  /** Writes what the endpoint has decided on. Not called for errors. */
  encode(json: JsonObject, caller: Callers[keyof Callers], kit: Kit): MaybePromise<string>
}

/** Defines a response format. */
export const defineResponseFormat = (format: Omit<ResponseFormat, 'kind'>): ResponseFormat => ({
  ...format,
  kind: 'response-format',
})
