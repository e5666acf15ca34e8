import * as v from 'valibot'
import { closestName } from '../config-schema.ts'
import type { ResponseFormat } from '../plugin/response-format.ts'
import { byClaim, type OwnedPart } from './owned.ts'
import { partKind, required, text } from './part-kind.ts'

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
export function assertFormats(formats: readonly OwnedPart<ResponseFormat>[], endpointNames: readonly string[]): void {
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
