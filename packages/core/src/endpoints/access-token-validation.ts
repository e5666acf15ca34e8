import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { noteToken } from '../events/recorder.ts'
import { builtIn } from './core-endpoint.ts'

/**
 * `GET | POST /connect/accesstokenvalidation`: validates an access token without authenticating the caller. Superseded
 * by introspection: disable it with `endpoints: { accessTokenValidation: false }` if no API calls it.
 *
 * @see the seed, sections 2.4 and 4; wire contract, section 6
 */
export const accessTokenValidationEndpoint = builtIn(
  {
    name: 'accessTokenValidation',
    path: '/connect/accesstokenvalidation',
    // Not registered with IANA: the two validation endpoints of the seed.
    metadataName: 'access_token_validation_endpoint',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    guessable: true,
    refusesWith400: true,
    // No CORS: a page must not be able to send requests from the addresses of its visitors.
    cors: 'none',
    params: v.object({ token: v.string(), expectedScope: v.optional(v.string()) }),
  },
  ({ accessTokens, recorder }) =>
    async ({ params: { token, expectedScope } }, _kit, trace) => {
      const validation = await accessTokens.validate(token)
      noteToken(trace, validation)
      const { fingerprint } = validation
      const fail = (reason: string): void =>
        recorder.record(trace, { type: 'validation_failed', tokenType: 'access_token', reason, fingerprint })
      if (!validation.valid) {
        fail(validation.reason)
        throw new OAuthError('invalid_token', 'The access token is not valid', { reason: validation.reason })
      }
      // The caller has to prove the key, but is not the client. An API that ignored `cnf` would accept a stolen token.
      if (validation.confirmation !== undefined) {
        fail('token_bound')
        throw new OAuthError('invalid_token', 'The access token is not valid', { reason: 'token_bound' })
      }
      if (expectedScope !== undefined && !validation.scopes.includes(expectedScope)) {
        fail('expected_scope_missing')
        throw new OAuthError('insufficient_scope', 'The access token does not have the expected scope', {
          reason: 'expected_scope_missing',
        })
      }
      recorder.record(trace, { type: 'validation_succeeded', tokenType: 'access_token', fingerprint })
      return { json: validation.claims }
    },
)
