import type { Found } from './freshness.ts'
import type { Lease, TenantServing } from './lease.ts'
import type { TenantEvent } from './tenant.ts'

/** A tenant that is open. */
export interface Slot<O, S extends TenantServing> extends Lease<S> {
  readonly key: string
  readonly name: string
  readonly found: Found<O>
  /** Milliseconds. */
  usedAt: number
  /** The check that is in progress. */
  checking: Promise<boolean> | undefined
}

/** The tenants that are open, at most `maxOpen`. */
export function createSlots<O, S extends TenantServing>(maxOpen: number, observe: (event: TenantEvent) => void) {
  const slots = new Map<string, Slot<O, S>>()
  const closing = new Set<Promise<void>>()

  /** Closes a tenant when its last request has ended. New requests open it again. */
  function retire(slot: Slot<O, S>, reason: TenantEvent['reason']): void {
    if (slots.get(slot.key) === slot) slots.delete(slot.key)
    if (slot.isRetired) return
    const ended = slot.retire().then(() => {
      closing.delete(ended)
      observe({ type: 'tenant_closed', tenant: slot.name, reason })
    })
    closing.add(ended)
  }

  /** Closes the tenant that was not used for the longest time. */
  function makeRoom(): void {
    while (slots.size >= maxOpen) {
      let oldest: Slot<O, S> | undefined
      for (const slot of slots.values()) if (oldest === undefined || slot.usedAt < oldest.usedAt) oldest = slot
      if (oldest === undefined) return
      retire(oldest, 'crowded')
    }
  }

  return {
    get size() {
      return slots.size
    },
    all: (): readonly Slot<O, S>[] => [...slots.values()],
    get: (key: string): Slot<O, S> | undefined => slots.get(key),
    add(slot: Slot<O, S>): void {
      makeRoom()
      slots.set(slot.key, slot)
    },
    retire,
    /** @throws TypeError when another open tenant has this issuer: where their keys are the same, each accepts tokens of the other. */
    assertOwnIssuer(key: string, { issuer }: S): void {
      for (const slot of slots.values()) {
        if (slot.key !== key && slot.serving.issuer === issuer) {
          throw new TypeError(`Its issuer ${issuer} is that of the tenant ${slot.name}`)
        }
      }
    },
    /** Resolves when no tenant is being closed. */
    async settled(): Promise<void> {
      await Promise.all([...closing])
    },
  }
}
