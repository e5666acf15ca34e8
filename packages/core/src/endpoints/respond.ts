import { prefers } from '../http/accept.ts'
import { noStoreHeaders, withHeaders } from '../http/plain-response.ts'
import type { Callers, EndpointKit, Reply } from '../plugin/endpoint.ts'
import type { ResponseFormat } from '../plugin/response-format.ts'
import type { OwnedPart } from '../registry/collect.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { EndpointResponse, ToResponse } from './reply.ts'

/** Converts the reply of an endpoint to a response, in the form that the caller prefers. */
export type Respond = (caller: Callers[keyof Callers], request: Request, reply: Reply) => MaybePromise<EndpointResponse>

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
