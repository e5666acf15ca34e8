import type { ResponseFormat } from '../plugin/response-format.ts'
import { byClaim, type OwnedPart } from './collect.ts'

const mediaTypeForm = /^application\/[a-z\d][a-z\d.+-]{0,80}$/u
const algorithmsForm = /^[a-z][a-z_]{0,60}_signing_alg_values_supported$/u

/** @throws TypeError when a response format is malformed, or two plugins provide the same one. */
export function assertFormats(formats: readonly OwnedPart<ResponseFormat>[], endpointNames: readonly string[]): void {
  for (const { plugin, part } of formats) {
    const { endpoint, mediaType, signingAlgorithms, encode } = part
    const name = `the response format of ${plugin}`
    if (!endpointNames.includes(endpoint)) {
      throw new TypeError(`plugins: ${name} has the unknown endpoint ${endpoint}`)
    }
    if (typeof mediaType !== 'string' || !mediaTypeForm.test(mediaType) || mediaType === 'application/json') {
      throw new TypeError(`plugins: ${name} requires mediaType, in lower case, such as application/example+jwt`)
    }
    if (signingAlgorithms !== undefined && !algorithmsForm.test(signingAlgorithms)) {
      throw new TypeError(`plugins: ${name} has an invalid signingAlgorithms`)
    }
    if (typeof encode !== 'function') throw new TypeError(`plugins: ${name} requires encode()`)
  }
  byClaim(formats, 'the response format', ({ endpoint, mediaType }) => `${mediaType} of ${endpoint}`)
}
