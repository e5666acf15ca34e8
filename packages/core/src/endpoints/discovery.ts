import { documentLifetime } from '../http/plain-response.ts'
import type { Services } from '../services.ts'
import type { JsonObject } from '../types.ts'
import { builtIn } from './core-endpoint.ts'

const facts = { methods: ['GET'], caller: 'anyone', cors: 'public' } as const

function handleOf({ metadata }: Services) {
  let reply: { readonly json: JsonObject; readonly maxAge: number } | undefined
  return () => {
    const json = metadata()
    if (reply?.json !== json) reply = Object.freeze({ json, maxAge: documentLifetime })
    return reply
  }
}

/**
 * `GET /.well-known/openid-configuration`: returns the discovery document.
 *
 * @see OpenID Connect Discovery 1.0 section 4
 */
export const discoveryEndpoint = builtIn(
  { ...facts, name: 'discovery', path: '/.well-known/openid-configuration' },
  handleOf,
)

/**
 * `GET /.well-known/oauth-authorization-server`: returns the same document.
 *
 * @see RFC 8414 section 3
 */
export const authorizationServerMetadataEndpoint = builtIn(
  {
    ...facts,
    name: 'authorizationServerMetadata',
    path: '/.well-known/oauth-authorization-server',
    beforeIssuerPath: true,
  },
  handleOf,
)
