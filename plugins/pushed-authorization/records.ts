import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import type { PushedRequest } from '../authorization-endpoint/feature.ts'
import { maxInteractionLifetime } from '../authorization-endpoint/options.ts'

/** RFC 9126 section 2.2: the scheme of the URIs. The rest has 256 random bits. */
const prefix = 'urn:ietf:params:oauth:request_uri:'
const uriForm = /^urn:ietf:params:oauth:request_uri:[\w-]{43}$/u

const pushed = v.object({
  clientId: v.string(),
  params: v.record(v.string(), v.string()),
  confirmation: v.exactOptional(v.record(v.string(), v.string())),
})
const used = v.literal(true)

const usedKeyOf = (uri: string): string => `used:${uri}`

/** Whether the text can be the URI of a pushed request. */
export const isPushedUri = (uri: string): boolean => uriForm.test(uri)

type Records = Pick<Kit, 'records'>

/** Stores a request of a client. Returns its URI. */
export async function storePushed(
  { records, now, randomId }: Records & Pick<Kit, 'now' | 'randomId'>,
  clientId: string,
  { params, confirmation }: PushedRequest,
  lifetime: number,
): Promise<string> {
  const uri = `${prefix}${randomId()}`
  const record = { clientId, params, ...(confirmation !== undefined && { confirmation }) }
  await records.put(uri, record, now() + lifetime)
  return uri
}

/** Returns a request of the client that is still unused. */
export async function findPushed(
  { records }: Records,
  uri: string,
  clientId: string,
): Promise<PushedRequest | undefined> {
  const [found, spent] = await Promise.all([records.get(uri, pushed), records.get(usedKeyOf(uri), used)])
  if (found === undefined || spent !== undefined || found.clientId !== clientId) return undefined
  return { params: found.params, confirmation: found.confirmation }
}

/**
 * Uses a request. Of concurrent calls, in any process, one returns `true`. The mark outlives every suspended request that
 * began with this one.
 */
export const usePushed = ({ records, now }: Records & Pick<Kit, 'now'>, uri: string, lifetime: number) =>
  records.insert(usedKeyOf(uri), true, now() + lifetime + maxInteractionLifetime)
