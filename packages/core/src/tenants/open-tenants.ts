import { createBoundedMap } from '../bounded-map.ts'
import type { Runtime } from '../runtime.ts'
import { createFreshness, type Found } from './freshness.ts'
import { createLease, type TenantServing } from './lease.ts'
import { limitOpenings } from './limit-openings.ts'
import { createSlots, type Slot } from './slots.ts'
import type { OpenTenant, TenantEvent, TenantLimits, TenantSource } from './tenant.ts'

/**
 * Concurrent openings. Opening a tenant takes several trips to the storage, and generates signing keys the first
 * time.
 */
const maxOpenings = 16
/** Concurrent look-ups. Each takes one or two trips, and clients can name any tenant. */
const maxLookUps = 64
const maxWaiting = 2000
/**
 * The number of keys that are remembered because no tenant has them, or because their tenant could not be opened.
 * Clients can send any key.
 */
const maxRemembered = 10_000
/** Milliseconds for which a failure is not tried again. */
const failureLifetime = 1000

const defaults = { maxOpen: 100, closeAfter: 600, recheckAfter: 2 } as const

interface OpenTenantsDeps<O, S extends TenantServing> {
  readonly source: TenantSource<O>
  readonly open: OpenTenant<O, S>
  readonly limits: TenantLimits
  readonly observe: (event: TenantEvent) => void
  readonly runtime: Pick<Runtime, 'elapsed'>
}

type Slots<O, S extends TenantServing> = ReturnType<typeof createSlots<O, S>>

/** Creates the function that opens what was found for a key. */
function createOpen<O, S extends TenantServing>(
  { open, observe, runtime }: OpenTenantsDeps<O, S>,
  slots: Slots<O, S>,
  isClosed: () => boolean,
) {
  async function serve(key: string, { tenant }: Found<O>): Promise<S> {
    const serving = await open(await tenant.open(), tenant, key)
    try {
      if (isClosed()) stopped()
      slots.assertOwnIssuer(key, serving)
      return serving
    } catch (cause) {
      await serving.close()
      throw cause
    }
  }
  return async (key: string, kept: Found<O>): Promise<Slot<O, S>> => {
    const { name } = kept.tenant
    const started = runtime.elapsed()
    const failed = (cause: unknown): void => observe({ type: 'tenant_failed', tenant: name, cause })
    try {
      const lease = createLease(await serve(key, kept), failed)
      // Assigned, because `isRetired` is a getter.
      const slot = Object.assign(lease, { key, name, found: kept, usedAt: runtime.elapsed(), checking: undefined })
      slots.add(slot)
      observe({ type: 'tenant_opened', tenant: name, duration: runtime.elapsed() - started })
      return slot
    } catch (cause) {
      failed(cause)
      throw cause
    }
  }
}

/** Remembers keys that no tenant has, and tenants that could not be opened, so that requests for them cost no trip. */
function createRefused(unknownFor: number, { elapsed }: Pick<Runtime, 'elapsed'>) {
  const unknown = createBoundedMap<number>(maxRemembered)
  const failures = createBoundedMap<{ readonly until: number; readonly cause: unknown }>(maxRemembered)
  return {
    addUnknown: (key: string): void => unknown.set(key, elapsed() + unknownFor),
    addFailure: (key: string, cause: unknown): void => failures.set(key, { until: elapsed() + failureLifetime, cause }),
    /** @throws the cause of the last failure, if that was not long ago */
    isUnknown(key: string): boolean {
      const failure = failures.get(key)
      if (failure !== undefined && failure.until > elapsed()) throw failure.cause
      return (unknown.get(key) ?? Number.NEGATIVE_INFINITY) > elapsed()
    },
  }
}

/** Creates the function that finds and opens a tenant, once for all requests that wait for it. */
function createOpening<O, S extends TenantServing>(
  freshness: ReturnType<typeof createFreshness<O>>,
  open: (key: string, found: Found<O>) => Promise<Slot<O, S>>,
  refused: ReturnType<typeof createRefused>,
) {
  // Two limits: look-ups of names that no tenant has must not wait for tenants that open, and tenants that open must
  // not wait for such look-ups.
  const lookUpInTurn = limitOpenings(maxLookUps, maxWaiting)
  const openInTurn = limitOpenings(maxOpenings, maxWaiting)
  const opening = new Map<string, Promise<Slot<O, S> | undefined>>()

  /** Applied inside the limits: too many requests for other tenants are no failure of this one. */
  async function remembered<T>(key: string, operate: () => Promise<T>): Promise<T> {
    try {
      return await operate()
    } catch (cause) {
      refused.addFailure(key, cause)
      throw cause
    }
  }

  async function openNew(key: string): Promise<Slot<O, S> | undefined> {
    const fresh = await lookUpInTurn(() => remembered(key, () => freshness.find(key)))
    if (fresh !== undefined) return openInTurn(() => remembered(key, () => open(key, fresh)))
    refused.addUnknown(key)
    return undefined
  }

  async function slotFor(key: string): Promise<Slot<O, S> | undefined> {
    if (refused.isUnknown(key)) return undefined
    const known = opening.get(key) ?? openNew(key).finally(() => opening.delete(key))
    opening.set(key, known)
    return known
  }

  return {
    slotFor,
    async settled(): Promise<void> {
      await Promise.allSettled([...opening.values()])
    },
  }
}

function stopped(): never {
  throw new Error('The service stops')
}

/** Keeps tenants open that are used, and closes the others. */
export function openTenants<O, S extends TenantServing>(deps: OpenTenantsDeps<O, S>) {
  const { source, observe, runtime } = deps
  const { maxOpen, closeAfter, recheckAfter } = limitsOf(deps.limits)
  let isClosed = false
  const freshness = createFreshness(source, recheckAfter, runtime)
  const slots = createSlots<O, S>(maxOpen, observe)
  const refused = createRefused(recheckAfter * 1000, runtime)
  const { slotFor, settled } = createOpening(
    freshness,
    createOpen(deps, slots, () => isClosed),
    refused,
  )

  /** Checks a tenant whose last check was too long ago. */
  async function check(slot: Slot<O, S>): Promise<boolean> {
    try {
      const outcome = await freshness.check(slot.key, slot.found)
      if (outcome === 'same') return true
      if (outcome === 'ended') refused.addUnknown(slot.key)
      slots.retire(slot, outcome === 'replaced' ? 'ended' : outcome)
      return false
    } finally {
      slot.checking = undefined
    }
  }

  /** Whether the tenant is still the one that was opened. Rejects when the source cannot be read. */
  async function isCurrent(slot: Slot<O, S>): Promise<boolean> {
    if (freshness.isFresh(slot.found)) return true
    slot.checking ??= check(slot)
    return slot.checking
  }

  /** Holds a tenant before the check: it must not close in between. */
  async function holdCurrent(slot: Slot<O, S>): Promise<boolean> {
    // Closed by another tenant since it was opened.
    if (slot.isRetired) return false
    slot.hold()
    let isHeld = false
    try {
      isHeld = await isCurrent(slot)
      return isHeld
    } finally {
      if (isHeld) slot.usedAt = runtime.elapsed()
      else slot.release()
    }
  }

  return {
    get size() {
      return slots.size
    },
    /** Returns an open tenant, and holds it; `undefined` if there is none. Release it. */
    async acquire(key: string): Promise<Slot<O, S> | undefined> {
      for (;;) {
        const slot = slots.get(key) ?? (isClosed ? stopped() : await slotFor(key))
        if (slot === undefined || (await holdCurrent(slot))) return slot
      }
    },
    /** Whether the tenant has not ended since it was acquired. */
    hasNotEnded: async (slot: Slot<O, S>): Promise<boolean> =>
      freshness.isFresh(slot.found) || ['same', 'changed'].includes(await freshness.check(slot.key, slot.found)),
    /** Runs the tasks of all open tenants, and closes those that were not used. Never rejects. */
    async runTasks(): Promise<void> {
      await Promise.all(slots.all().map(({ serving }) => serving.runTasks()))
      const before = runtime.elapsed() - closeAfter * 1000
      for (const slot of slots.all()) if (slot.usedAt <= before) slots.retire(slot, 'unused')
    },
    /** Closes all tenants when their requests have ended. */
    async close(): Promise<void> {
      isClosed = true
      await settled()
      for (const slot of slots.all()) slots.retire(slot, 'stopped')
      await slots.settled()
    },
  }
}

const limitsOf = ({ maxOpen, closeAfter, recheckAfter }: TenantLimits) => ({
  maxOpen: maxOpen ?? defaults.maxOpen,
  closeAfter: closeAfter ?? defaults.closeAfter,
  recheckAfter: recheckAfter ?? defaults.recheckAfter,
})
