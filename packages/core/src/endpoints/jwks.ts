import { documentAnswer } from '../http/answer.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Endpoint } from './endpoint.ts'

/** `GET /.well-known/jwks`: what anybody verifies our tokens with. @see RFC 7517 section 5 */
export function jwksEndpoint({ keys }: { readonly keys: KeyRing }): Endpoint {
  const answer = documentAnswer(keys.jwks)
  return {
    name: 'jwks',
    methods: ['GET'],
    presents: 'validation',
    cors: true,
    handle: async () => answer,
  }
}
