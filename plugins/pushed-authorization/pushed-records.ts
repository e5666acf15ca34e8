import type { Call, EndpointKit, Kit } from '@grantry/core'
import * as v from 'valibot'
import { maxInteractionLifetime, type PushedRequest } from '../authorization-endpoint/authorization-endpoint.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { storeWaiting } from '../shared/known-sites.ts'

/** RFC 9126 section 2.2: the scheme of the URIs. The rest has 256 random bits. */
const prefix = 'urn:ietf:params:oauth:request_uri:'
const uriForm = /^urn:ietf:params:oauth:request_uri:[\w-]{43}$/u

const pushed = v.object({
  clientId: v.string(),
  params: v.record(v.string(), v.string()),
  confirmation: v.exactOptional(v.record(v.string(), v.string())),
  clientEpoch: v.exactOptional(v.string()),
})
const used = v.literal(true)

const usedKeyOf = (uri: string): string => `used:${uri}`

/** Whether the text can be the URI of a pushed request. */
export const isPushedUri = (uri: string): boolean => uriForm.test(uri)

type Records = Pick<Kit, 'records'>

/**
 * Stores a request of a client. Returns its URI.
 *
 * @throws OAuthError when a public client, which can be any caller, has pushed too many.
 */
export async function storePushed(
  { records, now, randomId, limitWaiting }: Records & Pick<EndpointKit, 'now' | 'randomId' | 'limitWaiting'>,
  { caller, request }: Pick<Call<unknown, 'client'>, 'caller' | 'request'>,
  { params, confirmation, clientEpoch }: PushedRequest,
  lifetime: number,
): Promise<string> {
  const uri = `${prefix}${randomId()}`
  const value = {
    clientId: caller.clientId,
    params,
    ...(confirmation !== undefined && { confirmation }),
    ...(clientEpoch !== undefined && { clientEpoch }),
  }
  const store = () => records.put(uri, value, now() + lifetime)
  await (caller.public
    ? storeWaiting({ records, now, limitWaiting }, request, { value, store, remove: () => records.delete(uri) })
    : store())
  return uri
}

/** Returns a request of the client that is still unused, and that it has pushed since its last revocation. */
export async function findPushed(
  { records, epochOfClient }: Records & Pick<EndpointKit, 'epochOfClient'>,
  uri: string,
  clientId: string,
): Promise<PushedRequest | undefined> {
  const [record, spent, epoch] = await Promise.all([
    records.get(uri, pushed),
    records.get(usedKeyOf(uri), used),
    epochOfClient(clientId),
  ])
  if (record === undefined || spent !== undefined || record.clientId !== clientId) return undefined
  const { params, confirmation, clientEpoch } = record
  return epoch === undefined || epoch === clientEpoch ? { params, confirmation, clientEpoch } : undefined
}

/**
 * Uses a request. Of concurrent calls, in any process, one returns `true`. The mark outlives every suspended request that
 * began with this one.
 */
export const usePushed = ({ records, now }: Records & Pick<Kit, 'now'>, uri: string, lifetime: number) =>
  records.insert(usedKeyOf(uri), true, now() + lifetime + maxInteractionLifetime, keptRecord)
