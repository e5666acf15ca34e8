import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Entry, EntryStore, Json } from '@grantry/core'
import type { AuditedChange } from './manage-clients.ts'

/** A change, as it is stored. */
export interface AuditRecord extends AuditedChange {
  /** ISO 8601. */
  readonly time: string
  /** The account and the machine from which the change was made. */
  readonly who: string
}

/** Seconds for which a record is kept: a year. */
const keptFor = 365 * 86_400

/** Ids are in the order of time, the newest first. */
const idAt = (milliseconds: number): string =>
  `${String(1e13 - milliseconds).padStart(13, '0')}-${randomBytes(6).toString('hex')}`

function localAccount(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container can run as a user without a name.
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

/** Stores changes for the audit trail. */
export function createAudit(entries: Pick<EntryStore, 'create'>, now: () => number) {
  const who = localAccount()
  return async (change: AuditedChange): Promise<void> => {
    const record: AuditRecord = { time: new Date(now()).toISOString(), who, ...change }
    await entries.create('audit', idAt(now()), record as unknown as Json, { lifetime: keptFor })
  }
}

export const auditRecordIn = ({ value }: Entry): AuditRecord => value as unknown as AuditRecord
