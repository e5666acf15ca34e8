import { kinds } from '@grantry/administration'
import type { AtomicDriver, Entry, EntryStore, RecoverableDriver } from '@grantry/core'
import { keysInSpace, type RemovalPosition, removeTenantRecords, storageSpace } from '@grantry/core/tenants'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { tenantIssuer } from '../configuration/tenant-configuration.ts'
import type { TenantsConfiguration } from '../configuration/tenants-schema.ts'
import { storedSpace } from './find-tenant.ts'

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

const canList = (driver: AtomicDriver): driver is RecoverableDriver => 'listItems' in driver

/**
 * Removes, in small steps, what tenants that have ended have stored. The keys of most records are hashes, so they are found by
 * a read of the whole storage: a batch of it in each step. A process that dies during it leaves it to another one, from the
 * beginning.
 */
export function createRemoval(
  entries: EntryStore,
  driver: AtomicDriver,
  configuration: () => Pick<CheckedConfiguration, 'issuer'>,
  tenants: Pick<TenantsConfiguration, 'by' | 'prefix'>,
) {
  const positions = new Map<string, RemovalPosition>()
  /** The reads of the storage, for tenants whose entries are removed. */
  const reads = new Map<string, ReturnType<typeof keysInSpace>>()
  let running: Promise<void> | undefined
  /** The last id of a page without entries: what was removed leaves a mark in the storage. */
  let passed: string | undefined

  /** Returns the entry of the tenant that ended first. */
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

  /** Removes the next records. Returns whether none are left. */
  async function removeNext(id: string, { name, createdAt }: Ended): Promise<boolean> {
    const space = storedSpace(name, createdAt)
    const known = reads.get(id)
    if (known === undefined) {
      const issuer = tenantIssuer(configuration(), tenants, name)
      const from = positions.get(id)
      const next = await removeTenantRecords({ issuer, storage: storageSpace(driver, space), limit: batch, from })
      if (next !== undefined) positions.set(id, next)
      else if (canList(driver)) reads.set(id, keysInSpace(driver, space))
      return next === undefined && !canList(driver)
    }
    try {
      const { value: keys = [], done = false } = await known.next()
      await Promise.all(keys.map(async (key) => driver.removeItem(key, {})))
      return done
    } catch (error) {
      // A read that has failed yields nothing more: the next step begins again.
      reads.delete(id)
      throw error
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
      // The removal of the tenant has failed, or was refused.
      const exists = (Object(present?.value) as { readonly createdAt?: unknown }).createdAt === createdAt
      if (!exists && !(await removeNext(entry.id, ended))) return
    }
    positions.delete(entry.id)
    reads.delete(entry.id)
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
