import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { noteToken } from '../events/recorder.ts'
import type { Json } from '../types.ts'
import { builtIn } from './core-endpoint.ts'

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * The seed, section 2.3: every value becomes a string. An array with one item becomes that item, a longer one an array
 * of strings.
 */
function rendered(value: Json): Json {
  if (!Array.isArray(value)) return asText(value)
  const texts = value.map(asText)
  return texts.length === 1 ? (texts[0] ?? '') : texts
}

/**
 * `GET | POST /connect/identitytokenvalidation`: validates an identity token, for clients without a JWT library.
 *
 * @see the seed, sections 2.2 and 2.3; wire contract, section 4
 */
export const identityTokenValidationEndpoint = builtIn(
  {
    name: 'identityTokenValidation',
    path: '/connect/identitytokenvalidation',
    metadataName: 'identity_token_validation_endpoint',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    guessable: true,
    refusesWith400: true,
    cors: 'clients',
    params: v.object({ token: v.string(), client_id: v.string() }),
  },
  ({ identityTokens, recorder }) =>
    async ({ params: { token, client_id: clientId } }, _kit, trace) => {
      const validation = await identityTokens.validate(token, clientId)
      noteToken(trace, validation)
      const { fingerprint } = validation
      if (!validation.valid) {
        const { reason } = validation
        recorder.record(trace, { type: 'validation_failed', tokenType: 'identity_token', reason, fingerprint })
        throw new OAuthError('invalid_token', 'The identity token is not valid', { reason })
      }
      recorder.record(trace, { type: 'validation_succeeded', tokenType: 'identity_token', fingerprint })
      const claims = Object.entries(validation.claims).map(([name, value]) => [name, rendered(value)])
      return { json: Object.fromEntries(claims) }
    },
)
