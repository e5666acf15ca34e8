import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import type { Trace } from '../events/recorder.ts'
import { parseFields } from '../http/parameters.ts'
import { noStoreHeaders } from '../http/plain-response.ts'
import { readParameters } from '../http/read-parameters.ts'
import { fingerprintOf } from '../records/keys.ts'
import type { Services } from '../services.ts'
import type { Endpoint } from './endpoint.ts'

const parametersSchema = v.object({ token: v.string() })

/**
 * `POST /connect/revocation`: revokes a refresh token (with its family) or an access token. The response is the same if
 * there is nothing to revoke. `token_type_hint` is ignored: the lookup finds both types.
 *
 * @see RFC 7009 section 2; wire contract, section 8
 */
export function revocationEndpoint({
  authenticateClient,
  accessTokens,
  storedGrants,
  families,
  recorder,
  bodyLimit,
}: Services): Endpoint {
  /**
   * Revokes the family of a refresh token, even if the token is spent or expired. Returns whether the token is a
   * refresh token, of any client.
   */
  async function revokeRefreshToken(token: string, client: Client, trace: Trace): Promise<boolean> {
    const stored = await storedGrants.find('refresh', token)
    if (stored === undefined) return false
    const { record, hash } = stored
    if (record.clientId !== client.clientId) return true
    trace.sub = record.subject.sub
    await families.revoke(record, client, 'revocation_requested', trace)
    const about = { fingerprint: fingerprintOf(hash), ...families.describe(record.family) }
    recorder.record(trace, { type: 'token_revoked', tokenType: 'refresh_token', ...about })
    return true
  }

  async function revokeAccessToken(token: string, client: Client, trace: Trace): Promise<void> {
    const revoked = await accessTokens.revoke(token, client)
    if (revoked === undefined) return
    const { sub, ...about } = revoked
    trace.sub = sub
    recorder.record(trace, { type: 'token_revoked', tokenType: 'access_token', ...about })
  }

  return {
    name: 'revocation',
    methods: ['POST'],
    caller: 'client',
    cors: 'clients',
    async handle(request, trace) {
      const form = await readParameters(request, bodyLimit)
      const client = await authenticateClient(request, form, trace)
      const { token } = parseFields(parametersSchema, form)
      if (!(await revokeRefreshToken(token, client, trace))) await revokeAccessToken(token, client, trace)
      return { status: 200, headers: noStoreHeaders, body: null }
    },
  }
}
