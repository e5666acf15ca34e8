import type { JsonObject, MaybePromise } from '../types.ts'
import type { Callers, EndpointKit } from './endpoint.ts'
import type { Kit } from './kit.ts'
import type { Defined } from './part-kind.ts'
import type { EndpointResponse, Reply, ToResponse } from './reply.ts'

/** Another form of the JSON that an endpoint responds with, for callers that prefer it in `Accept`. */
export interface ResponseFormat extends Defined<'response-format'> {
  /** The name of the endpoint, such as `introspection`. */
  readonly endpoint: string
  /** The media type of the response: a subtype of `application`. */
  readonly mediaType: string
  /** The member of the discovery document that lists the algorithm of `kit.sign`, if `encode` signs. */
  readonly signingAlgorithms?: `${string}_signing_alg_values_supported` | undefined
  /** Writes what the endpoint has decided on. Not called for errors. */
  encode(json: JsonObject, caller: Callers[keyof Callers], kit: Kit): MaybePromise<string>
}

/** Converts the reply of an endpoint to a response, in the form that the caller prefers. */
export type Respond = (reply: Reply, caller: Callers[keyof Callers], request: Request) => MaybePromise<EndpointResponse>

/** The response formats of the installed plugins. */
export interface ResponseFormats {
  /** @throws TypeError when the endpoint of a format does not exist. */
  assertEndpoints(names: readonly string[]): void
  /** The members of the discovery document that list the algorithm of the formats of these endpoints. */
  signingMembers(isEnabled: (endpoint: string) => boolean): readonly string[]
  /** @param toResponse converts a reply that has no other format */
  respondOf(endpoint: string, toResponse: ToResponse, kitOf: (plugin: string) => EndpointKit): Respond
}

/** Without a plugin, all responses are JSON. */
export const noFormats: ResponseFormats = {
  assertEndpoints() {},
  signingMembers: () => [],
  respondOf: (_endpoint, toResponse) => toResponse,
}
