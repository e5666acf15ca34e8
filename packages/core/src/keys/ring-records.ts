import * as v from 'valibot'
import { longestLifetime } from '../configuration.ts'
import type { JsonObject } from '../json.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { createRingCipher } from './ring-cipher.ts'
import { type RingContent, ringContentSchema, type StoredKey } from './ring-content.ts'

const clearSchema = v.object({ ring: ringContentSchema })
const sealedSchema = v.object({ sealed: v.string(), secretId: v.string() })
/** Replaces a superseded generation: no process can insert it again, and its private keys are gone. */
const supersededSchema = v.object({ superseded: v.literal(true) })
const recordSchema = v.union([clearSchema, sealedSchema, supersededSchema])
const newestSchema = v.object({ number: v.pipe(v.number(), v.integer(), v.minValue(1)) })

type RingRecord = v.InferOutput<typeof recordSchema>

/** Stands for a record that is there and cannot be read; known by its identity. */
const unreadable: RingRecord = { superseded: true }

/** A generation of the ring: as it was found in the store, or as it was made. */
export interface FoundRing {
  /** Without the keys that the configuration refuses. */
  readonly content: RingContent
  /** Whether it is encrypted in the store. */
  readonly sealed: boolean
  /** The keys in the store that the configuration refuses. */
  readonly refused: readonly StoredKey[]
}

/** Why a ring that is there cannot be used: the end of a sentence. */
const ringFaults = {
  unreadable:
    'the stored key ring cannot be read: its record is damaged, foreign, or of another release; restore the storage',
  clear:
    'the stored key ring is not encrypted, and an encryptionSecret is set; if you have just added the secret, run "grantry keys seal" once; if not, another program has written to the storage: restore it',
  tampered: 'the stored key ring was changed without the encryptionSecret; restore the storage',
  secretWrong: 'the stored key ring was encrypted with another encryptionSecret; give that one',
  secretMissing: 'the stored key ring is encrypted; give the encryptionSecret that it was encrypted with',
  lost: 'the storage names a key ring and has lost it; restore the storage, or start beside a server that still runs',
} as const

export const ringFault = (what: keyof typeof ringFaults): TypeError => new TypeError(`keys: ${ringFaults[what]}`)

/** The stored generations of one issuer. */
export interface RingRecords {
  /**
   * The newest generation, looked for from this one on; `none` where nothing was ever stored, `lost` where something was.
   * @throws TypeError with a sentence: one that cannot be read is not passed over.
   */
  newest(from: number): Promise<FoundRing | 'none' | 'lost'>
  /** `true` when this call created the generation: of all processes one does. */
  insert(content: RingContent): Promise<boolean>
  /** After a generation: the one before loses its private keys, and this one is where others begin to look. */
  finish(number: number): Promise<void>
}

export function createRingRecords(deps: {
  readonly issuer: string
  readonly encryptionSecret: string | undefined
  /** Key ids: a key with one of them counts as absent, whatever the store says. */
  readonly refused?: readonly string[]
  /** Only for the command that encrypts a ring: whether one in clear is read although there is a secret. Default `false`. */
  readonly acceptClear?: boolean
  readonly store: Store
  readonly runtime: Runtime
}): RingRecords {
  const { issuer, encryptionSecret, acceptClear = false, store, runtime } = deps
  const refusedKids = new Set(deps.refused)
  const cipher = encryptionSecret === undefined ? undefined : createRingCipher(encryptionSecret, issuer, runtime)
  const keyFor = (what: number | 'newest'): string => keyOf('keys', runtime.sha256Hex(`${issuer}\n${what}`))

  const read = async (number: number): Promise<RingRecord | undefined> =>
    store.getMarker(keyFor(number), recordSchema, unreadable)

  async function open(record: RingRecord, number: number): Promise<FoundRing> {
    if (record === unreadable) throw ringFault('unreadable')
    if ('superseded' in record) throw ringFault('lost')
    if ('ring' in record) {
      // Anyone who can write to the store can write a ring in clear, with a key of their own in it.
      if (cipher !== undefined && !acceptClear) throw ringFault('clear')
      return placed(record.ring, number, false)
    }
    if (cipher === undefined) throw ringFault('secretMissing')
    if (record.secretId !== cipher.secretId) throw ringFault('secretWrong')
    const opened = v.safeParse(ringContentSchema, await cipher.open(record.sealed, number))
    if (!opened.success) throw ringFault('tampered')
    return placed(opened.output, number, true)
  }

  /** A record counts only where it belongs. */
  function placed(content: RingContent, number: number, sealed: boolean): FoundRing {
    if (content.issuer !== issuer || content.number !== number) throw ringFault('unreadable')
    const isRefused = ({ kid }: StoredKey): boolean => refusedKids.has(kid)
    const refused = content.keys.filter(isRefused)
    const kept = refused.length === 0 ? content : { ...content, keys: content.keys.filter((key) => !isRefused(key)) }
    return { content: kept, sealed, refused }
  }

  async function put(key: string, value: JsonObject): Promise<void> {
    // Longer than any process that was forgotten.
    await store.put(key, value, runtime.now() + longestLifetime)
  }

  async function finish(number: number): Promise<void> {
    if (number > 1) await put(keyFor(number - 1), { superseded: true })
    await put(keyFor('newest'), { number })
  }

  /** The last of the generations that follow each other from this one on. */
  async function walk(from: number): Promise<{ readonly record: RingRecord; readonly number: number } | undefined> {
    let found: { readonly record: RingRecord; readonly number: number } | undefined
    for (let number = from; ; number += 1) {
      const record = await read(number)
      if (record === undefined) return found
      found = { record, number }
    }
  }

  return {
    async newest(from) {
      const hint = (await store.get(keyFor('newest'), newestSchema))?.number
      // A hint that leads nowhere, planted or left over, must not hide what is there.
      const found = (await walk(Math.max(from, hint ?? 1))) ?? (await walk(from))
      if (found === undefined) return hint === undefined ? 'none' : 'lost'
      const ring = await open(found.record, found.number)
      // The process that inserted it may have ended before it got this far.
      if (hint === undefined || hint < found.number) await finish(found.number)
      return ring
    },

    async insert(content) {
      const { number } = content
      const value =
        cipher === undefined
          ? { ring: content }
          : { sealed: await cipher.seal(content as unknown as JsonObject, number), secretId: cipher.secretId }
      return store.insert(keyFor(number), value, runtime.now() + longestLifetime)
    },

    finish,
  }
}
