import { documentLifetime } from '../http/plain-response.ts'
import type { Reply } from '../parts/reply.ts'
import { builtIn } from './core-endpoint.ts'

/**
 * `GET /.well-known/jwks`: returns the public keys that verify the tokens.
 *
 * @see RFC 7517 section 5
 */
export const jwksEndpoint = builtIn(
  {
    name: 'jwks',
    path: '/.well-known/jwks',
    metadataName: 'jwks_uri',
    methods: ['GET'],
    caller: 'anyone',
    cors: 'public',
  },
  ({ keys }) => {
    let cached: { readonly jwks: object; readonly reply: Reply } | undefined
    return async () => {
      const jwks = await keys.jwks()
      if (cached?.jwks !== jwks)
        cached = { jwks, reply: Object.freeze({ json: { keys: jwks.keys }, maxAge: documentLifetime }) }
      return cached.reply
    }
  },
)
