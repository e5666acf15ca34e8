import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { clientProblem } from '../parts/token-binding.ts'
import { fingerprintOf } from '../records/keys.ts'
import { builtIn } from './core-endpoint.ts'

const ofAnotherClient = (reason: string): OAuthError =>
  new OAuthError('invalid_grant', 'The token was issued to another client', { reason })

/**
 * `POST /connect/revocation`: revokes a refresh token (with its family) or an access token. The response is the same if
 * there is nothing to revoke, but a token of another client is refused: its sender would believe that it is revoked.
 * `token_type_hint` is ignored: the lookup finds both types.
 *
 * @see RFC 7009 section 2; wire contract, section 8
 */
export const revocationEndpoint = builtIn(
  {
    name: 'revocation',
    path: '/connect/revocation',
    metadataName: 'revocation_endpoint',
    methodsMember: 'revocation_endpoint_auth_methods_supported',
    methods: ['POST'],
    caller: 'client',
    cors: 'clients',
    params: v.object({ token: v.string() }),
  },
  ({ accessTokens, storedGrants, families, recorder }) => {
    /**
     * Revokes the family of a refresh token, even if the token is spent or expired. Returns whether the token is a
     * refresh token.
     *
     * @throws OAuthError `invalid_grant` if it is one of another client.
     */
    async function revokeRefreshToken(token: string, client: Client, trace: Trace): Promise<boolean> {
      const stored = await storedGrants.find('refresh', token)
      if (stored === undefined) return false
      const { record, hash } = stored
      const problem = clientProblem(record.clientId, client)
      if (problem !== undefined) throw ofAnotherClient(problem)
      trace.sub = record.subject.sub
      await families.revoke(record, client, 'revocation_requested', trace)
      const about = { fingerprint: fingerprintOf(hash), ...families.describe(record.family) }
      recorder.record(trace, { type: 'token_revoked', tokenType: 'refresh_token', ...about })
      return true
    }

    async function revokeAccessToken(token: string, client: Client, trace: Trace): Promise<void> {
      const revoked = await accessTokens.revoke(token, client)
      if (revoked === undefined) return
      if (revoked === 'client_mismatch') throw ofAnotherClient(revoked)
      const { sub, ...about } = revoked
      trace.sub = sub
      recorder.record(trace, { type: 'token_revoked', tokenType: 'access_token', ...about })
    }

    return async ({ caller: client, params: { token } }, _kit, trace) => {
      if (!(await revokeRefreshToken(token, client, trace))) await revokeAccessToken(token, client, trace)
      return {}
    }
  },
)
