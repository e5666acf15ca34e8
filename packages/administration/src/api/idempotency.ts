import type { EndpointKit, Json, JsonObject, Kit, Reply } from '@grantry/core'
import * as v from 'valibot'
import { nameOf } from './administrator.ts'
import type { OperationCall } from './operation.ts'

/** Seconds for which the response of a request is kept. */
const lifetime = 86_400
/** Seconds after which a request that has not ended, because its process died, can be sent again. */
const longestRequest = 60

const recordSchema = v.object({
  fingerprint: v.string(),
  /** Absent while the request is in progress. */
  reply: v.optional(
    v.object({
      status: v.number(),
      json: v.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
      etag: v.string(),
      location: v.optional(v.string()),
      /** The sealed secret: a copy of the storage does not contain it. */
      sealed: v.optional(v.string()),
      /** Whether there was a secret. */
      hasSecret: v.boolean(),
    }),
  ),
})

type StoredReply = NonNullable<v.InferOutput<typeof recordSchema>['reply']>

/** Visible characters, in quotes or without (draft-ietf-httpapi-idempotency-key-header section 2.1). */
const keyForm = /^(?:"([!#-[\]-~]{1,200})"|([!#-[\]-~]{1,200}))$/u

function keyIn({ request, kit }: OperationCall): string | undefined {
  const header = request.header('idempotency-key')
  if (header === null) return undefined
  const [, quoted, bare] = keyForm.exec(header) ?? []
  const key = quoted ?? bare
  if (key !== undefined) return key
  const message = 'The header Idempotency-Key must be 1 to 200 visible characters'
  throw kit.refuse('invalid_request', message, 'idempotency_key_malformed')
}

const conflict = (kit: Pick<Kit, 'refuse'>, message: string, reason: string) =>
  kit.refuse('invalid_request', message, reason, { status: 409 })

/** Seals the secret of a response. Without a private key, the response is kept without its secret. */
async function storedOf(reply: Reply, kit: EndpointKit, expiresAt: number): Promise<StoredReply> {
  const { secret, ...json } = reply.json as JsonObject
  const sealed = secret === undefined ? undefined : await kit.seal(secret, expiresAt).catch(() => undefined)
  return {
    status: reply.status ?? 200,
    json,
    etag: String(reply.headers?.etag),
    hasSecret: secret !== undefined,
    ...(reply.location !== undefined && { location: reply.location }),
    ...(sealed !== undefined && { sealed }),
  }
}

async function replayed(stored: StoredReply, kit: EndpointKit): Promise<Reply> {
  const { status, json, etag, location, sealed, hasSecret } = stored
  const secret = sealed === undefined ? undefined : await kit.unseal(sealed, v.string())
  if (hasSecret && secret === undefined) {
    throw conflict(kit, 'The secret of the first response can no longer be read; rotate it', 'response_unreadable')
  }
  return {
    status: status as 200 | 201,
    json: { ...json, ...(secret !== undefined && { secret }) } as Json,
    headers: { etag },
    ...(location !== undefined && { location }),
  }
}

/**
 * Runs an operation once for each `Idempotency-Key` of a caller: the same request returns the same response for a day,
 * also the secret that it contains. A request that was refused leaves nothing, and can be sent again.
 *
 * @throws OAuthError 409 while the first request is in progress, 422 for another request with the same key
 */
export async function once(call: OperationCall, run: () => Promise<Reply>): Promise<Reply> {
  const key = keyIn(call)
  if (key === undefined) return run()
  const { kit, request, caller, params } = call
  const name = `idempotency:${nameOf(caller)} ${key}`
  const fingerprint = kit.sha256(JSON.stringify([request.method, request.segments, params]))
  const isFirst = await kit.records.insert(name, { fingerprint }, kit.now() + longestRequest)
  if (!isFirst) {
    const record = await kit.records.get(name, recordSchema)
    if (record !== undefined && record.fingerprint !== fingerprint) {
      const message = 'Another request had this Idempotency-Key; use a new key for each request'
      throw kit.refuse('invalid_request', message, 'idempotency_key_reused', { status: 422 })
    }
    if (record?.reply !== undefined) return replayed(record.reply, kit)
    throw conflict(kit, 'The first request with this Idempotency-Key is in progress; try again', 'in_progress')
  }
  let reply: Reply
  try {
    reply = await run()
  } catch (thrown) {
    await kit.records.delete(name)
    throw thrown
  }
  const expiresAt = kit.now() + lifetime
  // The response can contain the only copy of a secret: it must arrive even if the storage fails now.
  const store = async () =>
    kit.records.put(name, { fingerprint, reply: { ...(await storedOf(reply, kit, expiresAt)) } as Json }, expiresAt)
  await store().catch(() => {})
  return reply
}
