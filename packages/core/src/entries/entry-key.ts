import { OAuthError } from '../errors/oauth-error.ts'
import { isObject, isString } from '../json.ts'
import { parseEnvelope } from '../records/envelope.ts'
import type { Runtime } from '../runtime.ts'
import type { Json } from '../types.ts'

/** Seconds: as good as forever, and a number that every storage accepts. */
const forever = 100 * 365 * 86_400

/** Seconds: longer than any change takes. */
const day = 86_400

interface KindTraits {
  /** Seconds. */
  readonly lifetime: number
  /**
   * Seconds for which a removed entry keeps its place. Short where the id is personal, and nothing needs to know that there was
   * one. Default: its lifetime.
   */
  readonly placeLifetime?: number
  /** Whether processes remember entries of the kind. The revision shows their changes. */
  readonly isRemembered: boolean
  /** Whether the id of a removed entry can be that of a new one. Default: yes. */
  readonly reusesIds?: false
}

/**
 * What an entry describes. `audit`: a change of another entry, kept for a year. `user`: a user, by the `sub`, which
 * never belongs to another one. `user-name`: the user who has a name. `user-address`: the user who has verified a
 * mail address. `former-client`, `former-scope`: names of secrets that a removed one had before. `origin`: the
 * clients that allow an origin of browsers. `tenant`: an issuer of the same process. `ended-tenant`: a tenant whose
 * records are being removed. The revision of a kind shows changes of entries that processes remember.
 */
export const entryKinds = {
  client: { lifetime: forever, isRemembered: true },
  origin: { lifetime: forever, isRemembered: true },
  scope: { lifetime: forever, isRemembered: true },
  'former-client': { lifetime: forever, isRemembered: false },
  'former-scope': { lifetime: forever, isRemembered: false },
  user: { lifetime: forever, isRemembered: true, reusesIds: false },
  'user-name': { lifetime: forever, placeLifetime: day, isRemembered: false },
  'user-address': { lifetime: forever, placeLifetime: day, isRemembered: false },
  tenant: { lifetime: forever, isRemembered: true },
  'ended-tenant': { lifetime: forever, isRemembered: false },
  audit: { lifetime: 365 * 86_400, isRemembered: false },
} as const satisfies Readonly<Record<string, KindTraits>>

/** Whether the id of a removed entry can be that of a new one. */
export const reusesIds = (kind: EntryKind): boolean => (entryKinds[kind] as KindTraits).reusesIds !== false

export type EntryKind = keyof typeof entryKinds

/** Seconds for which an entry of a kind, or the place of a removed one, is kept. */
export function lifetimeOf(kind: EntryKind, isRemoved: boolean): number {
  const { lifetime, placeLifetime = lifetime }: KindTraits = entryKinds[kind]
  return isRemoved ? placeLifetime : lifetime
}

/** Seconds for which a revision is kept. */
export const revisionLifetime = forever

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

/** Drivers for SQL store the hash at the end of a key in another form, which would break the order. */
const endsWithHash = /[0-9a-f]{64}$/u

/**
 * Returns the id in characters that no storage changes. Their order is that of the ids, except for the escaped
 * characters.
 */
function encodeId(id: string): string {
  const encoded = id.replace(/[^A-Za-z0-9._~-]/gu, percent)
  return endsWithHash.test(encoded) ? encoded.slice(0, -1) + percent(encoded.slice(-1)) : encoded
}

const decodeId = (encoded: string): string =>
  encoded.replace(/%([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/**
 * Whether an id can be that of an entry: 1 to 100 printable ASCII characters, of which few need to be escaped, because
 * files have names of at most 200 characters.
 */
export const isEntryId = (id: unknown): id is string =>
  typeof id === 'string' && /^[\x20-\x7E]{1,100}$/u.test(id) && fileNameLength(id) <= 150

/** The characters that an id takes in the name of a file: upper-case letters are escaped there, and escapes again. */
const fileNameLength = (id: string): number =>
  [...id].reduce(
    (length, character) => length + (/[a-z0-9_-]/u.test(character) ? 1 : /[A-Z.~]/u.test(character) ? 3 : 9),
    0,
  )

/** The keys of the entries of one issuer. Several issuers can share a storage. */
export interface EntryKeys {
  /** The start of the keys of all entries of a kind whose ids start with `prefix`. */
  baseOf(kind: EntryKind, prefix?: string): string
  of(kind: EntryKind, id: string): string
  idOf(kind: EntryKind, key: string): string
  /** The record that changes with each change of an entry of a kind. */
  revisionOf(kind: EntryKind): string
}

export function entryKeys(issuer: string, runtime: Pick<Runtime, 'sha256Hex'>): EntryKeys {
  const owner = runtime.sha256Hex(issuer)
  const start = (kind: EntryKind): string => `entry:${kind}:${owner.slice(0, 32)}:`
  return {
    baseOf: (kind, prefix = '') => start(kind) + prefix.replace(/[^A-Za-z0-9._~-]/gu, percent),
    of: (kind, id) => start(kind) + encodeId(id),
    idOf: (kind, key) => decodeId(key.slice(start(kind).length)),
    revisionOf: (kind) => `entries:${kind}:${owner}`,
  }
}

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

/** Whether the entry exists: it was stored, and was not removed. */
export const isPresent = (stored: StoredEntry | undefined): stored is Required<StoredEntry> =>
  stored !== undefined && 'value' in stored
