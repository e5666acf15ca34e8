import * as v from 'valibot'
import { closestName } from '../config-schema.ts'
import { noStoreHeaders, withHeaders } from '../http/plain-response.ts'
import type { JsonObject } from '../types.ts'
import type { EndpointKit } from './endpoint.ts'
import { byClaim, type Members, type Owned, partKind, required, text } from './part-kind.ts'
import type { EndpointResponse, ToResponse } from './reply.ts'
import type { Respond, ResponseFormat, ResponseFormats } from './response-format.ts'

const maxAcceptLength = 1000

/** Returns the quality of a media range, such as `application/json;q=0.5`; 1 without `q`. */
function qualityOf(parameters: readonly string[]): number {
  const quality = parameters.map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/iu.exec(parameter)?.[1]).find(Boolean)
  return quality === undefined ? 1 : Number(quality)
}

/**
 * Whether the caller asks for this media type by its name, and does not prefer JSON.
 *
 * @see RFC 9110 section 12.5.1
 */
export function prefers(mediaType: string, accept: string | null): boolean {
  if (accept === null || accept.length > maxAcceptLength) return false
  const qualities = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';')
      return [type.trim().toLowerCase(), qualityOf(parameters)]
    }),
  )
  const quality = qualities.get(mediaType) ?? 0
  return quality > 0 && quality >= (qualities.get('application/json') ?? 0)
}

/** A cache must not send one form of a response to callers that prefer another. */
const varyingByAccept = (response: EndpointResponse): EndpointResponse =>
  response.headers['cache-control'] === noStoreHeaders['cache-control']
    ? response
    : withHeaders(response, { vary: 'Accept' })

/** @param formats the response formats of the endpoint. Without any, the request is not read again. */
function createRespond(
  toResponse: ToResponse,
  formats: readonly Owned<ResponseFormat>[],
  kitOf: (plugin: string) => EndpointKit,
): Respond {
  if (formats.length === 0) return toResponse
  return async (reply, caller, request) => {
    const accept = request.headers.get('accept')
    const format = formats.find(({ part }) => prefers(part.mediaType, accept))
    const { json, status = 200 } = reply
    if (format === undefined || json === undefined || status !== 200) return varyingByAccept(toResponse(reply))
    const { plugin, part } = format
    // Checks the reply, but does not serialize its JSON.
    const response = varyingByAccept(toResponse({ ...reply, json: null }))
    const body: unknown = await part.encode(json as JsonObject, caller, kitOf(plugin))
    if (typeof body !== 'string') throw new TypeError(`The response format of ${plugin} returned no text`)
    return { ...response, headers: { ...response.headers, 'content-type': part.mediaType }, body }
  }
}

function assertEndpoints(formats: readonly Owned<ResponseFormat>[], endpointNames: readonly string[]): void {
  for (const { plugin, part } of formats) {
    const { endpoint, mediaType } = part
    if (endpointNames.includes(endpoint)) continue
    const closest = closestName(endpoint, endpointNames)
    throw new TypeError(
      `plugins: the response format ${mediaType} of ${plugin} has the unknown endpoint ${endpoint}${closest === undefined ? '' : `; did you mean ${closest}?`}`,
    )
  }
}

/** @throws TypeError when two plugins provide the same format. */
function formatsOf(formats: readonly Owned<ResponseFormat>[]): ResponseFormats {
  byClaim(formats, 'the response format', ({ endpoint, mediaType }) => `${mediaType} of ${endpoint}`)
  return {
    assertEndpoints: (names) => assertEndpoints(formats, names),
    signingMembers: (isEnabled) =>
      formats.flatMap(({ part: { endpoint, signingAlgorithms } }) =>
        signingAlgorithms !== undefined && isEnabled(endpoint) ? [signingAlgorithms] : [],
      ),
    respondOf: (endpoint, toResponse, kitOf) =>
      createRespond(
        toResponse,
        formats.filter(({ part }) => part.endpoint === endpoint),
        kitOf,
      ),
  }
}

const formatKind = /* @__PURE__ */ partKind<ResponseFormat, ResponseFormats>('response-format', {
  title: 'response format',
  name: 'mediaType',
  schemas: () => ({
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
    encode: required(),
  }),
  collect: formatsOf,
})

/** Returns the part of a plugin that is another form of the JSON of an endpoint. */
export const defineResponseFormat = (format: Members<ResponseFormat>): ResponseFormat => ({
  ...format,
  kind: 'response-format',
  '~kind': formatKind,
})
