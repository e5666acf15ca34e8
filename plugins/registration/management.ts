import { type Call, type EndpointKit, hashSecret, type JsonObject, type Reply } from '@grantry/core'
import type { Admissions } from './admission.ts'
import { clientInformation, describedOrRefused, nextSecret } from './information.ts'
import type { Describe } from './registration-metadata.ts'
import type { Settings } from './registration-options.ts'
import { type ClientRecord, type ClientRecords, conflict, isRegisteredId } from './registration-records.ts'
import { claimsOfStored, vouched } from './software-statement.ts'

type Token = ClientRecord['token']
type ManagementCall = Call<JsonObject, 'anyone'>

/** How a client reads, changes and removes its registration. @see RFC 7592 section 2 */
export interface Management {
  /** @throws OAuthError `invalid_token` unless the request has the token of this client */
  handle(clientId: string, call: ManagementCall, kit: EndpointKit): Promise<Reply>
}

/** A client whose token a request has presented. */
interface Presented {
  readonly record: ClientRecord
  /** Whether the request presents the token before the current one: the response with the current one was lost. */
  readonly isEarlier: boolean
  readonly bearer: string
}

/**
 * Derives the token that follows another one. A change that is sent again gets the same token. A reader of the storage
 * cannot derive it, because the storage does not contain the earlier token.
 */
const following = (bearer: string, nonce: string, kit: EndpointKit): string =>
  kit.sha256(`grantry registration token 1\n${nonce}\n${bearer}`)

/** Returns the current token, which a caller with the earlier one may not know. */
const presentToken = ({ record: { token }, isEarlier, bearer }: Presented, kit: EndpointKit): string =>
  isEarlier && token.before !== undefined ? following(bearer, token.before.nonce, kit) : bearer

/** Returns the token after a change, with what is stored of it. */
function rotated(presented: Presented, kit: EndpointKit): { readonly token: string; readonly stored: Token } {
  const { record, isEarlier, bearer } = presented
  if (isEarlier) return { token: presentToken(presented, kit), stored: record.token }
  const nonce = kit.randomId()
  const token = following(bearer, nonce, kit)
  return { token, stored: { hash: kit.sha256(token), before: { hash: record.token.hash, nonce } } }
}

/** Returns the secret if it is the client's; `undefined` if it has sent none. */
function sentSecret({ client_secret: secret }: JsonObject, { secrets }: ClientRecord, kit: EndpointKit) {
  if (secret === undefined || secret === null) return undefined
  const hash = typeof secret === 'string' && secret !== '' ? hashSecret(secret).sha256 : ''
  if (secrets.some(({ sha256 }) => kit.equals(hash, sha256))) return String(secret)
  throw kit.refuse('invalid_client_metadata', 'client_secret is not that of the client', 'secret_differs')
}

export function createManagement(parts: {
  readonly settings: Settings
  readonly describe: Describe
  readonly records: ClientRecords
  readonly admissions: Pick<Admissions, 'withStatement' | 'takeChange'>
}): Management {
  const { settings, describe, records, admissions } = parts

  /** RFC 7592 section 2: the response is the same for a client that does not exist. */
  async function present(clientId: string, bearer: string | undefined, kit: EndpointKit): Promise<Presented> {
    if (bearer === undefined) {
      const text = 'The registration access token is required'
      throw kit.refuse('invalid_token', text, 'token_missing', { withoutCredentials: true })
    }
    const record = isRegisteredId(clientId) ? await records.get(clientId, kit) : undefined
    const hash = kit.sha256(bearer)
    const isPresent = kit.equals(hash, record?.token.hash ?? '-'.repeat(43))
    const isEarlier = kit.equals(hash, record?.token.before?.hash ?? '-'.repeat(43))
    if (record !== undefined && (isPresent || isEarlier)) return { record, isEarlier, bearer }
    throw kit.refuse('invalid_token', 'The registration access token is not valid', 'registration_token_unknown')
  }

  async function read(clientId: string, presented: Presented, kit: EndpointKit): Promise<Reply> {
    const { record, isEarlier } = presented
    // The client has received the present token, so the one before ends.
    if (!isEarlier && record.token.before !== undefined) {
      const { hash } = record.token
      if (!(await records.change(clientId, record, { ...record, token: { hash } }, kit))) throw conflict(kit)
    }
    return { json: clientInformation(clientId, record, { token: presentToken(presented, kit) }, kit) }
  }

  /** RFC 7592 section 2.2: what was sent replaces everything. The claims of a statement stay. */
  async function change(
    clientId: string,
    presented: Presented,
    call: ManagementCall,
    kit: EndpointKit,
  ): Promise<Reply> {
    const { record } = presented
    if (call.params.client_id !== clientId) {
      throw kit.refuse('invalid_request', 'client_id must be that of the path', 'client_id_differs')
    }
    const known = sentSecret(call.params, record, kit)
    const { software_statement: statement } = record.metadata as JsonObject
    const sent = await admissions.withStatement(call.params, kit)
    const isVouched = typeof statement === 'string' && sent.software_statement === undefined
    const metadata = isVouched ? vouched(sent, claimsOfStored(statement), statement) : sent
    const described = describedOrRefused(describe, metadata, kit)
    const { secret, secrets } = nextSecret(described, record.secrets, settings, kit)
    await admissions.takeChange({ clientId, by: record.by }, call.request.clientAddress, kit)
    const { token, stored } = rotated(presented, kit)
    const changed = { ...record, metadata: described.registered, secrets: [...secrets], token: stored }
    if (!(await records.change(clientId, record, changed, kit))) throw conflict(kit)
    kit.recordClient({ type: 'client_changed', clientId }, call.request)
    return { json: clientInformation(clientId, changed, { token, secret: secret ?? known }, kit) }
  }

  async function remove(clientId: string, { record }: Presented, call: ManagementCall, kit: EndpointKit) {
    if (!(await records.remove(clientId, record, kit))) throw conflict(kit)
    kit.recordClient({ type: 'client_removed', clientId }, call.request)
    return { status: 204 } as const
  }

  return {
    async handle(clientId, call, kit) {
      const presented = await present(clientId, call.bearer, kit)
      if (call.request.method === 'PUT') return change(clientId, presented, call, kit)
      if (call.request.method === 'DELETE') return remove(clientId, presented, call, kit)
      return read(clientId, presented, kit)
    },
  }
}
