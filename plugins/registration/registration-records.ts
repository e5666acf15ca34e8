import type { ClientOptions, Json, JsonObject, Kit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import { originsOf, stringsIn } from '../shared/self-described.ts'
import { allowOrigins, forgetOrigins, isOriginAllowed } from './origins.ts'
import type { Describe } from './registration-metadata.ts'
import type { Settings } from './registration-options.ts'

const secret = v.object({ sha256: v.string(), expiresAt: v.optional(v.number()) })

const recordSchema = v.object({
  /**
   * The granted metadata. It is judged again by the current options, so that a stricter policy applies to all clients.
   */
  metadata: v.record(v.string(), v.any()),
  issuedAt: v.number(),
  /** How the client was admitted. Absent in records of earlier versions. */
  by: v.optional(v.picklist(['token', 'statement', 'open'])),
  /** The hashes of the secrets. */
  secrets: v.array(secret),
  /** The token with which the client manages its registration. */
  token: v.object({
    hash: v.string(),
    /**
     * The earlier token, until the current one is used, and the nonce with which the current one was derived from it.
     */
    before: v.optional(v.object({ hash: v.string(), nonce: v.string() })),
  }),
  /** Increases with each change. */
  generation: v.number(),
  /** Whether it has got a token. */
  used: v.boolean(),
  /** Epoch seconds at which it ends. */
  until: v.number(),
})

/** What is stored of a client. */
export type ClientRecord = v.InferOutput<typeof recordSchema>

const idForm = /^registered-[\w-]{43}$/u

export const isRegisteredId = (clientId: string): boolean => idForm.test(clientId)

const clientKey = (clientId: string): string => `client:${clientId}`

/** Seconds for which a change is claimed: longer than its writes take. */
const claimLifetime = 60

/** The part of the lifetime after which a use renews it. */
const renewalAge = 0.1

/** How often a use tries to renew a client that others change. */
const maxTries = 3

/** The clients that a process remembers, to return the same object while a client has not changed. */
const maxRemembered = 1000

/** The registered clients. */
export interface ClientRecords {
  add(record: Omit<ClientRecord, 'generation' | 'used' | 'until'>, kit: Kit): Promise<string>
  get(clientId: string, kit: Kit): Promise<ClientRecord | undefined>
  /** Changes a client. Returns `false` if another call has changed it since it was read. */
  change(clientId: string, from: ClientRecord, to: ClientRecord, kit: Kit): Promise<boolean>
  /** Removes a client. Returns `false` if another call has changed it since it was read. */
  remove(clientId: string, from: ClientRecord, kit: Kit): Promise<boolean>
  /**
   * Prolongs the lifetime of a client that gets a token. Writes only if a tenth of its lifetime is over, or for its
   * first token.
   */
  use(clientId: string, kit: Kit): Promise<void>
  clientOf(clientId: string, record: ClientRecord, kit: Kit): ClientOptions | undefined
  isOriginAllowed(origin: string, kit: Kit): Promise<boolean>
}

/** The maximum number of origins of one client that are allowed in preflights. */
const maxOrigins = 16

const originsIn = ({ metadata }: Pick<ClientRecord, 'metadata'>): readonly string[] =>
  originsOf(stringsIn(metadata.redirect_uris)).slice(0, maxOrigins)

/** Returns the refusal of a change that another one has preceded. */
export const conflict = ({ refuse }: Pick<Kit, 'refuse'>) =>
  refuse('temporarily_unavailable', 'The client is being changed, try again', 'change_in_progress', { retryAfter: 1 })

/** Remembers clients in this process. */
function createRemembered(describe: Describe) {
  const remembered = new Map<string, { readonly record: ClientRecord; readonly client: ClientOptions | undefined }>()

  function remember(clientId: string, record: ClientRecord, kit: Kit): ClientOptions | undefined {
    const known = remembered.get(clientId)
    if (known?.record.generation === record.generation) return known.client
    const described = describe(record.metadata as JsonObject, kit)
    const client = 'client' in described ? { ...described.client, clientId, secrets: record.secrets } : undefined
    remembered.delete(clientId)
    remembered.set(clientId, { record, client })
    const [oldest] = remembered.keys()
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
    return client
  }

  return { remembered, remember }
}

export function createClientRecords(
  { firstTokenWithin, unusedLifetime }: Pick<Settings, 'firstTokenWithin' | 'unusedLifetime'>,
  describe: Describe,
): ClientRecords {
  const { remembered, remember } = createRemembered(describe)

  const get = (clientId: string, kit: Kit) => kit.records.get(clientKey(clientId), recordSchema)

  /**
   * Claims the change that follows a generation. Only one call can do so, in any process, and it reads the record again: a
   * change that has been claimed before is then visible.
   */
  async function claimed(clientId: string, { generation }: ClientRecord, kit: Kit): Promise<boolean> {
    const claim = `change:${clientId}:${generation}`
    if (!(await kit.records.insert(claim, {}, kit.now() + claimLifetime))) return false
    const present = await get(clientId, kit)
    return present?.generation === generation
  }

  async function change(clientId: string, from: ClientRecord, to: ClientRecord, kit: Kit): Promise<boolean> {
    if (!(await claimed(clientId, from, kit))) return false
    const next = { ...to, generation: from.generation + 1 }
    // Comes before the write: if this process dies, the client must not lack its origins until its next renewal.
    const origins = originsIn(to)
    if (to.metadata !== from.metadata || to.until !== from.until) await allowOrigins(clientId, origins, to.until, kit)
    await kit.records.put(clientKey(clientId), next as Json, next.until, keptRecord)
    const former = originsIn(from).filter((origin) => !origins.includes(origin))
    await forgetOrigins(clientId, former, kit)
    return true
  }

  return {
    async add(record, kit) {
      const clientId = `registered-${kit.randomId()}`
      const until = kit.now() + firstTokenWithin
      const stored = { ...record, generation: 1, used: false, until }
      await Promise.all([
        kit.records.insert(clientKey(clientId), stored as Json, until, keptRecord),
        allowOrigins(clientId, originsIn(record), until, kit),
      ])
      return clientId
    },
    get,
    change,
    async remove(clientId, from, kit) {
      if (!(await claimed(clientId, from, kit))) return false
      await kit.records.delete(clientKey(clientId))
      remembered.delete(clientId)
      await forgetOrigins(clientId, originsIn(from), kit)
      return true
    },
    async use(clientId, kit) {
      const now = kit.now()
      const isRecent = ({ used, until }: ClientRecord): boolean =>
        used && until - now > unusedLifetime * (1 - renewalAge)
      const known = remembered.get(clientId)?.record
      if (known !== undefined && isRecent(known)) return
      const until = now + unusedLifetime
      // Another call may change the client at the same time. After the last attempt, the next token renews a client
      // that was used before.
      for (let tries = 0; tries < maxTries; tries += 1) {
        const record = await get(clientId, kit)
        if (record === undefined || isRecent(record)) return
        if (await change(clientId, record, { ...record, used: true, until }, kit)) return
      }
    },
    clientOf: remember,
    isOriginAllowed,
  }
}
