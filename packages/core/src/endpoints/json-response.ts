import { cacheableResponse, jsonHeaders, noStoreHeaders, type PlainResponse } from '../http/plain-response.ts'
import type { Reply } from '../parts/endpoint.ts'
import type { ToResponse } from '../parts/reply.ts'

/**
 * Converts the replies of an endpoint of the core: JSON, which can be cacheable, or nothing. Other replies, and mistakes in
 * them, come from plugins only.
 */
export function createJsonResponse(): ToResponse {
  const documents = new WeakMap<Reply, PlainResponse>()
  return (reply) => {
    const { json, maxAge } = reply
    if (json === undefined) return { status: 200, headers: noStoreHeaders, body: null }
    if (maxAge === undefined) return { status: 200, headers: jsonHeaders, body: JSON.stringify(json) }
    const response = documents.get(reply) ?? cacheableResponse(json, maxAge)
    documents.set(reply, response)
    return response
  }
}
