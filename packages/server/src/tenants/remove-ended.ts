import { kinds } from '@grantry/administration'
import type { AtomicDriver, Entry, EntryStore } from '@grantry/core'
import { type RemovalPosition, removeTenantRecords, storageSpace } from '@grantry/core/tenants'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { TenantsConfiguration } from '../configuration/tenants.ts'
import { storedSpace } from './find-tenant.ts'
import { tenantIssuer } from './tenant-configuration.ts'

/** Entries that one run removes. */
const batch = 100

/** Milliseconds after which no request of a tenant that has ended is in progress. */
const delay = 120_000

interface Ended {
  readonly name: string
  readonly createdAt: string
  readonly endedAt: number
}

const endedIn = (value: unknown): Ended | undefined => {
  const { name, createdAt, endedAt } = Object(value) as Partial<Record<keyof Ended, unknown>>
  return typeof name === 'string' && typeof createdAt === 'string' && typeof endedAt === 'number'
    ? { name, createdAt, endedAt }
    : undefined
}

/** Removes, in small steps, what tenants that have ended have stored. */
export function createRemoval(
  entries: EntryStore,
  driver: AtomicDriver,
  configuration: () => Pick<CheckedConfiguration, 'issuer'>,
  tenants: Pick<TenantsConfiguration, 'by' | 'prefix'>,
) {
  const positions = new Map<string, RemovalPosition>()
  let running: Promise<void> | undefined
  /** The last id of a page without entries: what was removed leaves a mark in the storage. */
  let passed: string | undefined

  /** Returns the note of the tenant that has ended first. */
  async function oldest(now: number): Promise<Entry | undefined> {
    let after = passed
    for (;;) {
      const page = await entries.list('ended-tenant', { after, limit: batch })
      const [entry] = page.entries
      if (entry !== undefined || page.next === undefined) return entry
      after = page.next
      // Ids begin with a time. The clock of another process can be behind.
      if (Number.parseInt(after, 10) < now - delay) passed = after
    }
  }

  async function step(now: number): Promise<void> {
    const entry = await oldest(now)
    if (entry === undefined) return
    const ended = endedIn(entry.value)
    if (ended !== undefined) {
      if (now - ended.endedAt < delay) return
      const { name, createdAt } = ended
      const present = await entries.get(kinds.tenant.type.kind, name)
      // Its removal has failed, or was refused.
      const exists = (Object(present?.value) as { readonly createdAt?: unknown }).createdAt === createdAt
      if (!exists) {
        const storage = storageSpace(driver, storedSpace(name, createdAt))
        const issuer = tenantIssuer(configuration(), tenants, name)
        const next = await removeTenantRecords({ issuer, storage, limit: batch, from: positions.get(entry.id) })
        if (next !== undefined) {
          positions.set(entry.id, next)
          return
        }
      }
    }
    positions.delete(entry.id)
    await entries.remove('ended-tenant', entry.id, entry.version)
  }

  return {
    /** Removes the next records. A call during a run waits for it. */
    run(now = Date.now()): Promise<void> {
      running ??= step(now).finally(() => {
        running = undefined
      })
      return running
    },
  }
}
