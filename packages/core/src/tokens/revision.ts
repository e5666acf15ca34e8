import { maxLifetime } from '../config-schema.ts'
import { isObject, isString } from '../json.ts'
import { after } from '../promises.ts'
import { combined, type Lookup, markerAt } from '../records/envelope.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import { type Runtime, randomId } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/**
 * A random value that every revocation replaces. A record that carries the current revision was written after the last
 * revocation of the issuer, so its family and epochs need not be read.
 *
 * @see docs/decisions/0041-one-revision-for-all-revocations.md
 */
export interface Revision {
  /** Looks up the revision. `undefined` if it is absent or cannot be read: then every record is checked in full. */
  readonly current: Lookup<string | undefined>
  /**
   * Looks up the revision for a new record: the one that this process read before the call, because a revision that is
   * read after the epochs could hide a revocation. It may be outdated or `undefined`; the record is then checked in full.
   * Call it before the epochs are read.
   */
  forNewRecord(): Lookup<string | undefined>
  /** The number of replacements by this process. */
  readonly replacements: number
  /**
   * Writes a revocation, and replaces the revision before and after it. From the first replacement on, all existing
   * records are checked in full, so the revocation reaches them even if the process ends after its write. The second
   * one reaches the records that are issued in between.
   */
  replaceBeforeAndAfter<T>(write: () => MaybePromise<T>): Promise<T>
}

interface RevisionRecord {
  readonly revision: string
}

const isRevisionRecord = (value: unknown): value is RevisionRecord =>
  isObject(value) && 'revision' in value && isString(value.revision)
/** Equals no revision of a record. */
const unreadable = { revision: '' }
const revisionIn = (record: RevisionRecord | undefined): string | undefined => record?.revision || undefined

/** Seconds by which the records of revocations outlive the last token, to allow for clock skew. */
export const revocationMargin = 86_400

export function createRevision(deps: {
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
}): Revision {
  const { issuer, store, runtime } = deps
  const key = keyOf('revision', runtime.sha256Hex(issuer))
  let lastRead: string | undefined
  let replacements = 0

  const newRecord = (): RevisionRecord => ({ revision: randomId(runtime, 12) })
  const expiresAt = (): number => runtime.now() + maxLifetime + revocationMargin

  const lookup = <T>(resultOf: (record: RevisionRecord | undefined) => MaybePromise<T>): Lookup<T> =>
    combined([markerAt(key, isRevisionRecord, unreadable)], ([record]) => {
      lastRead = revisionIn(record)
      return resultOf(record)
    })

  async function replace(): Promise<void> {
    replacements += 1
    await store.put(key, newRecord(), expiresAt())
  }

  return {
    current: lookup(revisionIn),
    forNewRecord() {
      const known = lastRead
      // The revision that this lookup reads is for later records.
      return lookup((record) => {
        if (record !== undefined) return known
        // A new value, because a lost one must not return: the records that carry it may have been revoked since.
        const created = newRecord()
        return after(store.insert(key, created, expiresAt()), (isCreated) => {
          if (isCreated) lastRead = created.revision
          return undefined
        })
      })
    },
    get replacements() {
      return replacements
    },
    async replaceBeforeAndAfter(write) {
      await replace()
      const written = await write()
      await replace()
      return written
    },
  }
}
