/** The record version that this release writes. It reads no other version. */
const version = 1

/**
 * Why a stored record is treated as absent: another release wrote it, or it is incomplete, of foreign origin, or of the
 * wrong kind.
 */
export type RecordRejection = 'version_unknown' | 'record_malformed'

/** How a plugin writes a record. */
export interface RecordOptions {
  /**
   * Keep the record when an operator has restored an old copy of the storage (`grantry storage recover`). For what belongs
   * to accounts, such as a link or a factor, and for marks that something is used up. Never for what gives access, or can
   * be used once: in the copy, what was used later is unused. Default: the record is removed.
   */
  readonly keptAfterRestore?: true | undefined
}

/** What a stored record contains around its value. */
interface Envelope {
  /** Epoch seconds. */
  readonly expiresAt: number
  readonly value: unknown
}

/** A record to write. */
export interface NewRecord<T = unknown> extends Envelope, RecordOptions {
  readonly value: T
  readonly key: string
}

export const encodeEnvelope = ({ expiresAt, keptAfterRestore: kept, value }: Envelope & RecordOptions): string =>
  JSON.stringify({ version, expiresAt, kept, value })

export function parseEnvelope(stored: unknown): Envelope | RecordRejection {
  let candidate = stored
  if (typeof stored === 'string') {
    try {
      candidate = JSON.parse(stored)
    } catch {
      return 'record_malformed'
    }
  }
  if (typeof candidate !== 'object' || candidate === null) return 'record_malformed'
  const { version: written, expiresAt, value } = candidate as Readonly<Record<string, unknown>>
  if (typeof written === 'number' && written !== version) return 'version_unknown'
  return written === version && typeof expiresAt === 'number' ? { expiresAt, value } : 'record_malformed'
}
