import { readBearer } from '../credentials/bearer.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { noteToken } from '../events/recorder.ts'
import type { RequestParameters } from '../http/parameters.ts'
import { jsonResponse } from '../http/plain-response.ts'
import { parseForm, readForm, refuseBody } from '../http/read-parameters.ts'
import type { Services } from '../services.ts'
import type { Json, JsonObject } from '../types.ts'
import type { Endpoint } from './endpoint.ts'

/** `role` is an array, even with only one role (the seed, section 2.5). */
const asList = (value: Json): Json => (Array.isArray(value) ? value : [value])

/**
 * `GET | POST /connect/userinfo`: returns the claims of the user of an access token.
 *
 * @see OpenID Connect Core section 5.3; wire contract, section 5
 */
export function userinfoEndpoint({ accessTokens, userClaims, recorder, bodyLimit }: Services): Endpoint {
  async function claimsOf(sub: string, scopes: readonly string[]): Promise<JsonObject> {
    const claims = await userClaims(sub, scopes, 'identity')
    if (claims.role !== undefined) claims.role = asList(claims.role)
    return { sub, ...claims }
  }

  /**
   * Reads the form of a POST. A POST without a media type has its token in the header, or has neither a token nor a
   * body.
   */
  async function formOf(request: Request): Promise<RequestParameters | undefined> {
    if (request.method !== 'POST') return undefined
    if (request.headers.has('content-type')) return parseForm(await readForm(request, bodyLimit))
    if (!request.headers.has('authorization')) await refuseBody(request, bodyLimit)
    return undefined
  }

  return {
    name: 'userinfo',
    methods: ['GET', 'POST'],
    caller: 'bearer',
    cors: 'clients',
    async handle(request, trace) {
      const form = await formOf(request)
      const token = readBearer(request.headers.get('authorization'), form)
      const validation = await accessTokens.validate(token)
      noteToken(trace, validation)
      const { fingerprint } = validation
      if (!validation.valid) {
        const { reason } = validation
        recorder.record(trace, { type: 'validation_failed', tokenType: 'access_token', reason, fingerprint })
        throw new OAuthError('invalid_token', 'The access token is not valid', { reason })
      }
      const { sub } = validation
      if (sub === undefined || !validation.scopes.includes('openid')) {
        throw new OAuthError('insufficient_scope', 'The access token must have the scope openid', {
          reason: 'openid_missing',
          scope: 'openid',
        })
      }
      recorder.record(trace, { type: 'validation_succeeded', tokenType: 'access_token', fingerprint })
      return jsonResponse(await claimsOf(sub, validation.scopes))
    },
  }
}
