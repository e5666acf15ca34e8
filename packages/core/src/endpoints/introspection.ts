import * as v from 'valibot'
import { refuseSecondMethod } from '../credentials/presented.ts'
import type { Scope } from '../directory/scope.ts'
import { OAuthError, reasonOf } from '../errors/oauth-error.ts'
import { noteToken, type Trace } from '../events/recorder.ts'
import { parseFields, type RequestParameters } from '../http/parameters.ts'
import { jsonResponse } from '../http/plain-response.ts'
import { parseForm, readForm } from '../http/read-parameters.ts'
import type { Services } from '../services.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * The response to an authenticated scope about a token without that scope: `{ "active": false }`, or 401 (literal
 * reading of the seed, section 7).
 */
export type UnrelatedScope = 'inactive' | 'unauthorized'

const parametersSchema = v.object({ token: v.string() })
const noParameters: RequestParameters = Object.create(null)
const inactive = { active: false }

function presentedScope({ presented }: Trace): { presentedScope?: string; presentedFingerprint?: string } {
  if (presented === undefined) return {}
  const { known, fingerprint: presentedFingerprint } = presented
  return known === undefined ? { presentedFingerprint } : { presentedScope: known, presentedFingerprint }
}

/**
 * `POST /connect/introspect`: returns the state and claims of an access token to an API that authenticates with its
 * scope name and secret.
 *
 * @see RFC 7662; the seed, sections 2.6, 4 and 7; wire contract, section 7
 */
export function introspectionEndpoint(
  { authenticateScope, accessTokens, recorder, bodyLimit }: Services,
  unrelatedScope: UnrelatedScope,
): Endpoint {
  /**
   * Authenticates before it parses the body, so that an unauthenticated caller does not learn whether the body is
   * valid.
   */
  async function authenticate(request: Request, trace: Trace): Promise<{ scope: Scope; form: RequestParameters }> {
    const bytes = await readForm(request, bodyLimit)
    if (request.headers.get('authorization') === null) {
      const form = parseForm(bytes)
      const { scope } = await authenticateScope(request, form, trace)
      return { scope, form }
    }
    const { scope, presentation } = await authenticateScope(request, noParameters, trace)
    const form = parseForm(bytes)
    refuseSecondMethod(presentation, form)
    return { scope, form }
  }

  async function authenticated(request: Request, trace: Trace) {
    try {
      return await authenticate(request, trace)
    } catch (error) {
      recorder.record(trace, { type: 'introspection_denied', ...presentedScope(trace), reason: reasonOf(error) })
      throw error
    }
  }

  return {
    name: 'introspection',
    methods: ['POST'],
    caller: 'client',
    cors: 'none',
    async handle(request, trace) {
      const { scope, form } = await authenticated(request, trace)
      const { token } = parseFields(parametersSchema, form)
      const validation = await accessTokens.validate(token)
      noteToken(trace, validation)
      const about = { scope: scope.name, fingerprint: validation.fingerprint }
      if (!validation.valid) {
        recorder.record(trace, { type: 'introspection_inactive', ...about, reason: validation.reason })
        return jsonResponse(inactive)
      }
      if (!validation.scopes.includes(scope.name)) {
        const reason = 'scope_not_in_token'
        if (unrelatedScope === 'unauthorized') {
          recorder.record(trace, { type: 'introspection_denied', ...about, reason })
          throw new OAuthError('invalid_client', 'The scope is not allowed to introspect this token', { reason })
        }
        recorder.record(trace, { type: 'introspection_inactive', ...about, reason })
        return jsonResponse(inactive)
      }
      recorder.record(trace, { type: 'introspection_active', ...about })
      const shown = scope.unrestrictedIntrospection ? validation.scopes.join(' ') : scope.name
      // `Object.assign`, not spread: V8 takes microseconds to spread objects whose shape varies from token to token.
      return jsonResponse(Object.assign({}, validation.claims, { active: true, token_type: 'Bearer', scope: shown }))
    },
  }
}
