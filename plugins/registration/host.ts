import { type EndpointKit, hostKey, type JsonObject } from '@grantry/core'
import { type IssuedInitialToken, initialTokens } from './initial-tokens.ts'
import { type ClientRecords, conflict, isRegisteredId } from './registration-records.ts'

/** A registered client, for administrators. */
export interface RegisteredClient {
  /** What was granted, in the names of RFC 7591. */
  readonly metadata: JsonObject
  /** Epoch seconds. */
  readonly issuedAt: number
  /** Whether it has got a token. */
  readonly used: boolean
  /** Epoch seconds at which the client ends, unless it is used before. */
  readonly until: number
}

/** What an administrator does with registrations: `provider.use(registrations)`. */
export interface Registrations {
  /**
   * Issues an initial access token, which allows `budget` registrations in the next `lifetime` seconds.
   *
   * @throws TypeError for a budget or a lifetime that is not possible
   */
  issueToken(token: { readonly budget: number; readonly lifetime: number }): Promise<IssuedInitialToken>
  /** Ends an initial access token by its id. Returns whether there was one. */
  revokeToken(id: string): Promise<boolean>
  find(clientId: string): Promise<RegisteredClient | undefined>
  /**
   * Removes a client; its tokens are refused. Returns whether there was one.
   *
   * @throws OAuthError `temporarily_unavailable` if it is being changed at this moment
   */
  remove(clientId: string): Promise<boolean>
}

/** The key of `Registrations`. */
export const registrations = hostKey<Registrations>('registrations', 'registration()')

export const createRegistrations = (records: ClientRecords, kit: EndpointKit): Registrations => ({
  issueToken: (token) => initialTokens.issue(token, kit),
  revokeToken: (id) => initialTokens.revoke(id, kit),
  async find(clientId) {
    const record = isRegisteredId(clientId) ? await records.get(clientId, kit) : undefined
    if (record === undefined) return undefined
    const { metadata, issuedAt, used, until } = record
    return { metadata: metadata as JsonObject, issuedAt, used, until }
  },
  async remove(clientId) {
    const record = isRegisteredId(clientId) ? await records.get(clientId, kit) : undefined
    if (record === undefined) return false
    if (!(await records.remove(clientId, record, kit))) throw conflict(kit)
    kit.recordClient({ type: 'client_removed', clientId }, {})
    return true
  },
})
