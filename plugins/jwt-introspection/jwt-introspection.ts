import { definePlugin, defineResponseFormat, type Plugin } from '@grantry/core'

/**
 * Signed introspection responses: an API that sends `Accept: application/token-introspection+jwt` gets a JWT, which
 * proves later what the provider has said. Encryption is not supported.
 *
 * @see RFC 9701
 */
export const jwtIntrospection = (): Plugin =>
  definePlugin('jwt-introspection', [
    defineResponseFormat({
      endpoint: 'introspection',
      mediaType: 'application/token-introspection+jwt',
      signingAlgorithms: 'introspection_signing_alg_values_supported',
      // The answer is nested, so that the JWT cannot pass for an access token (RFC 9701 section 5).
      encode: (token_introspection, caller, kit) =>
        kit.sign('token-introspection+jwt', {
          aud: caller !== undefined && 'name' in caller ? caller.name : '',
          token_introspection,
        }),
    }),
  ])
