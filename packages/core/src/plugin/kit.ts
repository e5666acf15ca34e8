import type { GenericSchema, InferOutput } from 'valibot'
import type { Json } from '../types.ts'

/** The records of one plugin. Other plugins cannot access them. A key can be any string; it is hashed. */
export interface PluginRecords {
  get<S extends GenericSchema>(key: string, schema: S): Promise<InferOutput<S> | undefined>
  /** @param expiresAt epoch seconds */
  put(key: string, value: Json, expiresAt: number): Promise<void>
  /** Creates only when absent; `true` when this call created it. Atomic across processes. */
  insert(key: string, value: Json, expiresAt: number): Promise<boolean>
  delete(key: string): Promise<void>
}

/** The tools of a plugin. All its parts get them. */
export interface Kit {
  readonly issuer: string
  /** Epoch seconds. */
  now(): number
  /** SHA-256 of the UTF-8 text as unpadded base64url, as in `code_challenge_method=S256`. */
  sha256(text: string): string
  /** Compares in time that depends only on the lengths. */
  equals(one: string, other: string): boolean
  /** 256 random bits, base64url. */
  randomId(): string
  /** The records of the plugin, shared by its parts. */
  readonly records: PluginRecords
}
