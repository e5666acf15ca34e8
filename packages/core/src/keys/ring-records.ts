import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import * as v from 'valibot'
import { maxLifetime } from '../config-schema.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import { type Bytes, type Runtime, utf8 } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'
import type { JsonObject } from '../types.ts'
import { type RetrySecret, retrySecretOf } from './key-ring.ts'
import { type RingContent, ringContentSchema, type StoredKey } from './ring-content.ts'

/** Encrypts and authenticates the stored generations of a key ring. */
interface RingCipher {
  /**
   * An id derived from the secret, which distinguishes a wrong secret from a changed record. It reveals nothing about
   * the secret.
   */
  readonly secretId: string
  readonly retrySecret: RetrySecret
  seal(content: JsonObject, number: number): Promise<string>
  /**
   * Decrypts a generation; returns `undefined` if it was not sealed with this secret for this issuer and generation.
   */
  open(sealed: string, number: number): Promise<unknown>
}

/**
 * Creates a cipher that uses AES-256-GCM with keys derived by HKDF-SHA-256 (RFC 5869). It seals the whole generation,
 * not only the private keys: an attacker who could add a public key to the storage could sign tokens with its private
 * key. Each generation has its own key, so a record cannot be moved to another generation.
 */
export function createRingCipher(secret: string, issuer: string, runtime: Runtime): RingCipher {
  const input = utf8(secret)
  const derive = (purpose: string, length: number): Bytes =>
    new Uint8Array(hkdf(sha256, input, undefined, utf8(`grantry ${purpose} 1\n${issuer}`), length))
  const keyOf = (number: number): Bytes => derive(`key ring ${number}`, 32)
  return {
    secretId: runtime.base64url(derive('key ring secret id', 8)),
    retrySecret: retrySecretOf(derive('retries', 32), runtime),
    seal: (content, number) => sealJson(content, keyOf(number), runtime),
    open: (sealed, number) => openJson(sealed, keyOf(number), runtime),
  }
}

const unencryptedSchema = v.object({ ring: ringContentSchema })
const sealedSchema = v.object({ sealed: v.string(), secretId: v.string() })
/** Replaces a superseded generation, so that no process can insert it again and its private keys are deleted. */
const supersededSchema = v.object({ superseded: v.literal(true) })
const recordSchema = v.union([unencryptedSchema, sealedSchema, supersededSchema])
const newestSchema = v.object({ number: v.pipe(v.number(), v.integer(), v.minValue(1)) })

type RingRecord = v.InferOutput<typeof recordSchema>

/** Represents a record that cannot be read. Compared by identity. */
const unreadable: RingRecord = { superseded: true }

/** A generation of the ring, read from the storage or newly created. */
export interface FoundRing {
  /** Without the keys that the configuration refuses. */
  readonly content: RingContent
  /** Whether it is encrypted in the store. */
  readonly sealed: boolean
  /** The keys in the store that the configuration refuses. */
  readonly refused: readonly StoredKey[]
}

/** Why a stored ring cannot be used: the rest of a message that starts with `keys: `. */
const ringFaults = {
  unreadable:
    'the stored key ring cannot be read: its record is damaged, of foreign origin, or of another release; restore the storage',
  unencrypted:
    'the stored key ring is not encrypted, but encryptionSecret is set; if you have just added it, run "grantry keys seal" once; otherwise another program wrote it: restore the storage',
  tampered: 'the stored key ring was changed without the encryptionSecret; restore the storage',
  secretWrong: 'the stored key ring was encrypted with another encryptionSecret; set that one',
  secretMissing: 'the stored key ring is encrypted; set the encryptionSecret that it was encrypted with',
  lost: 'the storage refers to a key ring that is missing; restore the storage, or start while another server is running',
} as const

export const ringFault = (what: keyof typeof ringFaults): TypeError => new TypeError(`keys: ${ringFaults[what]}`)

/** The stored generations of one issuer. */
export interface RingRecords {
  /**
   * Returns the newest generation, searching from this number on; `none` if nothing was ever stored, `lost` if the
   * stored ring is missing.
   *
   * @throws TypeError when a generation cannot be read: it is never skipped.
   */
  newest(from: number): Promise<FoundRing | 'none' | 'lost'>
  /** Inserts a generation. Returns `true` if this call created it, which happens in only one process. */
  insert(content: RingContent): Promise<boolean>
  /**
   * Completes a new generation: deletes the private keys of the previous one, and lets other processes start their
   * search here.
   */
  finish(number: number): Promise<void>
}

/** Creates the function that opens a stored generation, which another program may have changed. */
function createOpen({
  issuer,
  refused: refusedKids,
  acceptUnencrypted,
  cipher,
}: {
  readonly issuer: string
  readonly refused: ReadonlySet<string>
  readonly acceptUnencrypted: boolean
  readonly cipher: RingCipher | undefined
}): (record: RingRecord, number: number) => Promise<FoundRing> {
  /** Checks that the record belongs to this issuer and generation, and removes refused keys. */
  function validRing(content: RingContent, number: number, sealed: boolean): FoundRing {
    if (content.issuer !== issuer || content.number !== number) throw ringFault('unreadable')
    const isRefused = ({ kid }: StoredKey): boolean => refusedKids.has(kid)
    const refused = content.keys.filter(isRefused)
    const kept = refused.length === 0 ? content : { ...content, keys: content.keys.filter((key) => !isRefused(key)) }
    return { content: kept, sealed, refused }
  }

  return async (record, number) => {
    if (record === unreadable) throw ringFault('unreadable')
    if ('superseded' in record) throw ringFault('lost')
    if ('ring' in record) {
      // An attacker with write access to the storage could insert an unencrypted ring with their own key.
      if (cipher !== undefined && !acceptUnencrypted) throw ringFault('unencrypted')
      return validRing(record.ring, number, false)
    }
    if (cipher === undefined) throw ringFault('secretMissing')
    if (record.secretId !== cipher.secretId) throw ringFault('secretWrong')
    const opened = v.safeParse(ringContentSchema, await cipher.open(record.sealed, number))
    if (!opened.success) throw ringFault('tampered')
    return validRing(opened.output, number, true)
  }
}

export function createRingRecords(deps: {
  readonly issuer: string
  readonly encryptionSecret: string | undefined
  /** The ids of refused keys, which are treated as absent. */
  readonly refused?: readonly string[]
  /**
   * Whether to accept an unencrypted ring although a secret is set. Only for the command that encrypts a ring. Default:
   * `false`.
   */
  readonly acceptUnencrypted?: boolean
  readonly store: Store
  readonly runtime: Runtime
}): RingRecords {
  const { issuer, encryptionSecret, acceptUnencrypted = false, store, runtime } = deps
  const cipher = encryptionSecret === undefined ? undefined : createRingCipher(encryptionSecret, issuer, runtime)
  const open = createOpen({ issuer, refused: new Set(deps.refused), acceptUnencrypted, cipher })
  const keyFor = (what: number | 'newest'): string => keyOf('keys', runtime.sha256Hex(`${issuer}\n${what}`))

  const read = async (number: number): Promise<RingRecord | undefined> =>
    store.getMarker(keyFor(number), recordSchema, unreadable)

  async function put(key: string, value: JsonObject): Promise<void> {
    // Longer than any process runs.
    await store.put(key, value, runtime.now() + maxLifetime)
  }

  async function finish(number: number): Promise<void> {
    if (number > 1) await put(keyFor(number - 1), { superseded: true })
    await put(keyFor('newest'), { number })
  }

  /** Finds the last generation of an uninterrupted sequence from this number on. */
  async function walk(from: number): Promise<{ readonly record: RingRecord; readonly number: number } | undefined> {
    let last: { readonly record: RingRecord; readonly number: number } | undefined
    for (let number = from; ; number += 1) {
      const record = await read(number)
      if (record === undefined) return last
      last = { record, number }
    }
  }

  return {
    async newest(from) {
      const hint = (await store.get(keyFor('newest'), newestSchema))?.number
      // A wrong hint, planted or outdated, must not hide existing generations.
      const last = (await walk(Math.max(from, hint ?? 1))) ?? (await walk(from))
      if (last === undefined) return hint === undefined ? 'none' : 'lost'
      const ring = await open(last.record, last.number)
      // The process that inserted it may have crashed before `finish`.
      if (hint === undefined || hint < last.number) await finish(last.number)
      return ring
    },

    async insert(content) {
      const { number } = content
      const value =
        cipher === undefined
          ? { ring: content }
          : { sealed: await cipher.seal(content as unknown as JsonObject, number), secretId: cipher.secretId }
      return store.insert(keyFor(number), value, runtime.now() + maxLifetime)
    },

    finish,
  }
}
