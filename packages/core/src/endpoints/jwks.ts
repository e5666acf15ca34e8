import { type Answer, documentAnswer } from '../http/answer.ts'
import type { JwkSet, KeyRing } from '../keys/key-ring.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * `GET /.well-known/jwks`: returns the public keys that verify the tokens.
 *
 * @see RFC 7517 section 5
 */
export function jwksEndpoint({ keys }: { readonly keys: KeyRing }): Endpoint {
  let written: { readonly of: JwkSet; readonly answer: Answer } | undefined
  return {
    name: 'jwks',
    methods: ['GET'],
    presents: 'validation',
    cors: 'public',
    async handle() {
      const jwks = await keys.jwks()
      if (written?.of !== jwks) written = { of: jwks, answer: documentAnswer(jwks) }
      return written.answer
    },
  }
}
