import { cacheableResponse, type PlainResponse } from '../http/plain-response.ts'
import type { JwkSet } from '../keys/key-ring.ts'
import type { Services } from '../services.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * `GET /.well-known/jwks`: returns the public keys that verify the tokens.
 *
 * @see RFC 7517 section 5
 */
export function jwksEndpoint({ keys }: Services): Endpoint {
  let cached: { readonly jwks: JwkSet; readonly response: PlainResponse } | undefined
  return {
    name: 'jwks',
    methods: ['GET'],
    caller: 'validation',
    cors: 'public',
    async handle() {
      const jwks = await keys.jwks()
      if (cached?.jwks !== jwks) cached = { jwks, response: cacheableResponse(jwks) }
      return cached.response
    },
  }
}
