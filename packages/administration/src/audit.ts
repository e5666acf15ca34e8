import type { EntryStore, Json, Runtime } from '@grantry/core'
import type { Members } from './differences.ts'
import { refusalOf } from './refusal.ts'

/** Who makes a change, and from where. */
export interface Administrator {
  /** Such as `alice@host` for a command, or the client and the user of an access token. */
  readonly who: string
  /** The address of the request; absent for a command. */
  readonly from?: string | undefined
}

/** A change, for the audit trail. It contains no secret, and no hash of one. */
export interface AuditedChange {
  /** Such as `client_added`. */
  readonly action: string
  /** The id of the entry. */
  readonly id: string
  /** The members that differ. Absent before the entry was added, and after it was removed. */
  readonly before?: Members | undefined
  readonly after?: Members | undefined
}

/** A change, as it is stored. */
export interface AuditRecord extends AuditedChange, Administrator {
  /** ISO 8601. */
  readonly time: string
  /** `unknown`: the change was begun; the process died, or the storage failed, before it could record the end. */
  readonly outcome: 'done' | 'unknown'
}

export interface AuditDeps {
  readonly entries: EntryStore
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly runtime: Pick<Runtime, 'randomBytes' | 'base64url'>
}

/** Changes of one process before their numbers begin again. */
const maxChanges = 999_999

/** Characters that ids have in the order of time. */
export const orderLength = 13
/** Milliseconds since the epoch, in the year 2286. */
const end = 1e13

/** Returns how the ids of the records of a time begin, in milliseconds: the newest first. */
export const orderOf = (time: number): string =>
  String(end - Math.min(Math.max(time, 1), end)).padStart(orderLength, '0')

const recordOf = (value: AuditRecord): Json => value as unknown as Json

/** Records an effect that has already happened, in case the rest of the change is refused. */
export type NoteEffect = (effect: Omit<AuditedChange, 'id'>) => void

/** Records changes. */
export type Audit = <T>(by: Administrator, change: AuditedChange, make: (note: NoteEffect) => Promise<T>) => Promise<T>

/**
 * Records each change before it is made. A change that is in effect is therefore in the trail, even if the process dies
 * in the middle. A refused change is not in the trail, except for the effects that it has noted.
 */
export function createAudit({ entries, now, runtime }: AuditDeps): Audit {
  /** Counts down, so that changes of the same millisecond are in their order, too. */
  let left = maxChanges

  /** Ids are in the order of time, the newest first. */
  function idAt(time: number): string {
    left = left === 0 ? maxChanges : left - 1
    const order = `${orderOf(time)}-${String(left).padStart(6, '0')}`
    return `${order}-${runtime.base64url(runtime.randomBytes(9))}`
  }

  return async (by, change, make) => {
    const time = now()
    const begun: AuditRecord = { time: new Date(time).toISOString(), ...by, ...change, outcome: 'unknown' }
    const entry = await entries.create('audit', idAt(time), recordOf(begun))
    if (entry === undefined) throw new Error('two records of the audit trail have the same random id')
    let effect: Omit<AuditedChange, 'id'> | undefined
    try {
      const made = await make((noted) => {
        effect = noted
      })
      const done = recordOf({ ...begun, outcome: 'done' })
      // A new secret must reach the administrator even if the storage fails now. The record then says `unknown`.
      await entries.replace('audit', entry.id, entry.version, done).catch(() => {})
      return made
    } catch (cause) {
      if (refusalOf(cause) !== undefined) {
        const { id } = change
        const noted = effect && recordOf({ time: begun.time, ...by, ...effect, id, outcome: 'done' })
        if (noted === undefined) await entries.remove('audit', entry.id, entry.version)
        else await entries.replace('audit', entry.id, entry.version, noted)
      }
      throw cause
    }
  }
}
