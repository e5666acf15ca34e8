import type { Runtime } from '../runtime.ts'
import type { Tenant, TenantSource } from './tenant.ts'

/** A revision of the source, and when it was read. */
interface Seen {
  readonly revision: string | undefined
  /** Milliseconds, before the read began. */
  readonly at: number
}

/** A tenant that was found, and the state of the source at that time. */
export interface Found<O> {
  readonly tenant: Tenant<O>
  seen: Seen
  /** When `find()` was called last. */
  foundAt: number
}

/**
 * Seconds after which a tenant is looked up although the revision is the same: a process may have stopped before it
 * changed the revision.
 */
const lookUpAfter = 30

/** Looks tenants up, and checks from time to time whether they have changed since. */
export function createFreshness<O>(source: TenantSource<O>, recheckAfter: number, runtime: Pick<Runtime, 'elapsed'>) {
  const milliseconds = recheckAfter * 1000
  let seen: Seen | undefined
  let reading: Promise<Seen> | undefined

  async function read(): Promise<Seen> {
    const at = runtime.elapsed()
    try {
      const revision = await source.revision?.()
      seen = { revision, at }
      return seen
    } finally {
      reading = undefined
    }
  }
  const isFresh = ({ at }: Seen): boolean => runtime.elapsed() - at < milliseconds

  /** Returns a state that is no older than `recheckAfter`. */
  function state(): Promise<Seen> {
    if (seen !== undefined && source.revision !== undefined && isFresh(seen)) return Promise.resolve(seen)
    reading ??= read()
    return reading
  }

  return {
    /** Whether a tenant need not be checked yet. */
    isFresh: (kept: Found<O>): boolean => isFresh(kept.seen),
    async find(key: string): Promise<Found<O> | undefined> {
      // Before the tenant: a change between the two reads is then seen later.
      const before = await state()
      const foundAt = runtime.elapsed()
      const tenant = await source.find(key)
      return tenant && { tenant, seen: before, foundAt }
    },
    /**
     * Compares a tenant with the one that was found: `same`, `ended`, `changed`, or `replaced` by another tenant with
     * its name.
     */
    async check(key: string, kept: Found<O>): Promise<'same' | 'ended' | 'changed' | 'replaced'> {
      const now = await state()
      const isKnown = source.revision !== undefined && now.revision === kept.seen.revision
      if (!isKnown || runtime.elapsed() - kept.foundAt > lookUpAfter * 1000) {
        const foundAt = runtime.elapsed()
        const tenant = await source.find(key)
        if (tenant === undefined) return 'ended'
        if (tenant.space !== kept.tenant.space) return 'replaced'
        if (tenant.version !== kept.tenant.version) return 'changed'
        kept.foundAt = foundAt
      }
      kept.seen = now
      return 'same'
    },
  }
}
