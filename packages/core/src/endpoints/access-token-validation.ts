import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { noteToken } from '../events/recorder.ts'
import { parseFields } from '../http/parameters.ts'
import { jsonResponse } from '../http/plain-response.ts'
import { readParameters } from '../http/read-parameters.ts'
import type { Services } from '../services.ts'
import type { Endpoint } from './endpoint.ts'

const parametersSchema = v.object({ token: v.string(), expectedScope: v.optional(v.string()) })

/**
 * `GET | POST /connect/accesstokenvalidation`: validates an access token without authenticating the caller. Superseded
 * by introspection.
 *
 * @see the seed, sections 2.4 and 4; wire contract, section 6
 */
export function accessTokenValidationEndpoint({ accessTokens, recorder, bodyLimit }: Services): Endpoint {
  return {
    name: 'accessTokenValidation',
    methods: ['GET', 'POST'],
    caller: 'validation',
    // No CORS: a page must not be able to send requests from the addresses of its visitors.
    cors: 'none',
    async handle(request, trace) {
      const parameters = await readParameters(request, bodyLimit)
      const { token, expectedScope } = parseFields(parametersSchema, parameters)
      const validation = await accessTokens.validate(token)
      noteToken(trace, validation)
      const { fingerprint } = validation
      const fail = (reason: string): void =>
        recorder.record(trace, { type: 'validation_failed', tokenType: 'access_token', reason, fingerprint })
      if (!validation.valid) {
        fail(validation.reason)
        throw new OAuthError('invalid_token', 'The access token is not valid', { reason: validation.reason })
      }
      if (expectedScope !== undefined && !validation.scopes.includes(expectedScope)) {
        fail('expected_scope_missing')
        throw new OAuthError('insufficient_scope', 'The access token does not have the expected scope', {
          reason: 'expected_scope_missing',
        })
      }
      recorder.record(trace, { type: 'validation_succeeded', tokenType: 'access_token', fingerprint })
      return jsonResponse(validation.claims)
    },
  }
}
