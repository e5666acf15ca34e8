import { OAuthError } from '../errors/oauth-error.ts'
import { isObject } from '../objects.ts'
import { parseEnvelope } from '../records/envelope.ts'
import { isString } from '../records/json.ts'
import type { Json } from '../types.ts'

/** What is stored of an entry. One that was removed keeps its place for a while, so that no version of it occurs again. */
export interface StoredEntry {
  readonly version: string
  readonly value?: Json
  /** Epoch seconds. */
  readonly removedAt?: number
}

const isStoredEntry = (value: unknown): value is StoredEntry =>
  isObject(value) && isString((value as { readonly version?: unknown }).version)

const damaged = (key: string): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'storage_failed',
    cause: new Error(`The stored entry ${key} cannot be read; a newer version may have written it`),
  })

/** @throws OAuthError when the stored text is not an entry: it must not look absent, because it could be disabled. */
export function parseStored(key: string, stored: unknown): StoredEntry | undefined {
  if (stored === null || stored === undefined) return undefined
  const envelope = parseEnvelope(stored)
  if (typeof envelope === 'string' || !isStoredEntry(envelope.value)) throw damaged(key)
  return envelope.value
}

/** Whether it was not removed. */
export const isPresent = (stored: StoredEntry | undefined): stored is Required<StoredEntry> =>
  stored !== undefined && 'value' in stored
