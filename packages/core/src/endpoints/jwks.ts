import { cacheable } from '../http/json-response.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Runtime } from '../runtime.ts'
import type { Endpoint } from './endpoint.ts'

/** `GET /.well-known/jwks`: what anybody verifies our tokens with. @see RFC 7517 section 5 */
export function jwksEndpoint(deps: { readonly keys: KeyRing; readonly runtime: Runtime }): Endpoint {
  const body = JSON.stringify(deps.keys.jwks)
  return {
    name: 'jwks',
    methods: ['GET'],
    presents: 'validation',
    cors: true,
    handle: async () => new deps.runtime.Response(body, { status: 200, headers: cacheable }),
  }
}
