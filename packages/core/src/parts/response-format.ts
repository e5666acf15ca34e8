import * as v from 'valibot'
import { closestName } from '../config-schema.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { Callers } from './endpoint.ts'
import type { Kit } from './kit.ts'
import { byClaim, type Owned, partKind, required, text } from './part-kind.ts'

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

export const formatKind = partKind<ResponseFormat>(
  'response format',
  {
    endpoint: v.string('must be the name of an endpoint'),
    mediaType: text(
      /^application\/(?!json$)[a-z\d][a-z\d.+-]{0,80}$/u,
      'must be a media type in lower case, such as application/example+jwt',
    ),
    signingAlgorithms: v.optional(
      text(
        /^[a-z][a-z_]{0,60}_signing_alg_values_supported$/u,
        'must be a name that ends with _signing_alg_values_supported',
      ),
    ),
    encode: required,
  },
  'mediaType',
)

/** @throws TypeError when the endpoint of a format does not exist, or two plugins provide the same format. */
export function assertFormats(formats: readonly Owned<ResponseFormat>[], endpointNames: readonly string[]): void {
  for (const { plugin, part } of formats) {
    const { endpoint, mediaType } = part
    if (endpointNames.includes(endpoint)) continue
    const closest = closestName(endpoint, endpointNames)
    throw new TypeError(
      `plugins: the response format ${mediaType} of ${plugin} has the unknown endpoint ${endpoint}${closest === undefined ? '' : `; did you mean ${closest}?`}`,
    )
  }
  byClaim(formats, 'the response format', ({ endpoint, mediaType }) => `${mediaType} of ${endpoint}`)
}
