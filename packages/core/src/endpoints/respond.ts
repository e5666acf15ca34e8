import { noStoreHeaders, withHeaders } from '../http/plain-response.ts'
import type { Callers, EndpointKit, Reply } from '../parts/endpoint.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import type { ResponseFormat } from '../parts/response-format.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { EndpointResponse, ToResponse } from './reply.ts'

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

/** Converts the reply of an endpoint to a response, in the form that the caller prefers. */
type Respond = (caller: Callers[keyof Callers], request: Request, reply: Reply) => MaybePromise<EndpointResponse>

/** A cache must not send one form of a response to callers that prefer another. */
const varyingByAccept = (response: EndpointResponse): EndpointResponse =>
  response.headers['cache-control'] === noStoreHeaders['cache-control']
    ? response
    : withHeaders(response, { vary: 'Accept' })

/** @param formats the response formats of the endpoint. Without any, the request is not read again. */
export function createRespond(
  toResponse: ToResponse,
  formats: readonly OwnedPart<ResponseFormat>[],
  kitOf: (plugin: string) => EndpointKit,
): Respond {
  if (formats.length === 0) return (_caller, _request, reply) => toResponse(reply)
  return async (caller, request, reply) => {
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
