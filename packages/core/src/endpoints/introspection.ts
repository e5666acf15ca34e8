import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { noteToken } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import { builtIn } from './core-endpoint.ts'

const inactive = { active: false }

/**
 * `POST /connect/introspect`: returns the state and claims of an access token to an API that authenticates with its
 * scope name and secret.
 *
 * @see RFC 7662; the seed, sections 2.6, 4 and 7; wire contract, section 7
 */
export const introspectionEndpoint = builtIn(
  {
    name: 'introspection',
    path: '/connect/introspect',
    metadataName: 'introspection_endpoint',
    methodsMember: 'introspection_endpoint_auth_methods_supported',
    methods: ['POST'],
    caller: 'scope',
    cors: 'none',
    denial: 'introspection_denied',
    params: v.object({ token: v.string() }),
  },
  ({ accessTokens, registry, recorder, unrelatedScope }) =>
    async ({ caller, params: { token }, confirm }, _kit, trace) => {
      const validating = accessTokens.validate(token)
      const scope = confirm === undefined ? caller : (await allOf([confirm(), validating]))[0]
      const validation = await validating
      noteToken(trace, validation)
      const about = { scope: scope.name, fingerprint: validation.fingerprint }
      if (!validation.valid) {
        recorder.record(trace, { type: 'introspection_inactive', ...about, reason: validation.reason })
        return { json: inactive }
      }
      if (!validation.scopes.includes(scope.name)) {
        const reason = 'scope_not_in_token'
        if (unrelatedScope === 'unauthorized') {
          recorder.record(trace, { type: 'introspection_denied', ...about, reason })
          throw new OAuthError('invalid_client', 'The scope is not allowed to introspect this token', { reason })
        }
        recorder.record(trace, { type: 'introspection_inactive', ...about, reason })
        return { json: inactive }
      }
      recorder.record(trace, { type: 'introspection_active', ...about })
      const shown = scope.unrestrictedIntrospection ? validation.scopes.join(' ') : scope.name
      const tokenType = registry.bindings.schemeOf(validation.confirmation)
      // `Object.assign`, not spread: V8 takes microseconds to spread objects whose shape varies from token to token.
      return { json: Object.assign({}, validation.claims, { active: true, token_type: tokenType, scope: shown }) }
    },
)
