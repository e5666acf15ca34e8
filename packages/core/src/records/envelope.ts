/** The record version that this release writes. It reads no other version. */
const version = 1

/**
 * Why a stored record is treated as absent: another release wrote it, or it is incomplete, of foreign origin, or of the
 * wrong kind.
 */
export type RecordRejection = 'version_unknown' | 'record_malformed'

/** What a stored record contains around its value. */
interface Envelope {
  /** Epoch seconds. */
  readonly expiresAt: number
  readonly value: unknown
}

/** A record to write. */
export interface NewRecord<T = unknown> extends Envelope {
  readonly value: T
  readonly key: string
}

export const encodeEnvelope = ({ expiresAt, value }: Envelope): string => JSON.stringify({ version, expiresAt, value })

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
