import { kinds, managedIn, refused } from '@grantry/administration'
import { type AtomicDriver, type Entry, type EntryStore, openEntries, parseConfiguration } from '@grantry/core'
import { loadNamedPlugins } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import {
  type ConfiguredTenant,
  storedTenantSchema,
  type TenantsConfiguration,
} from '../configuration/tenants-schema.ts'

/** A tenant, and the part of the storage that it uses. */
export interface FoundTenant {
  readonly tenant: ConfiguredTenant
  readonly space: string
  /** The version of the entry in the storage. */
  readonly version: string
}

/**
 * Returns the part of the storage of a stored tenant. Its name contains the time of the creation, so that an earlier
 * tenant with the same name had another part.
 */
export const storedSpace = (name: string, createdAt: string): string => `stored ${name} ${createdAt}`

const configuredSpace = (name: string): string => `configured ${name}`

/** @throws RefusedError when a newer version, or another program, has written the entry: it could be disabled */
function storedTenant(entry: Entry): FoundTenant {
  const managed = managedIn(kinds.tenant.type, entry)
  if (managed === undefined) throw refused('unreadable', `the stored tenant ${entry.id} has an unknown form`)
  const tenant = parseConfiguration(storedTenantSchema, managed.value, `tenant ${entry.id}`)
  return { tenant, space: storedSpace(managed.id, managed.createdAt), version: managed.version }
}

export const tenantEntries = ({ issuer }: Pick<CheckedConfiguration, 'issuer'>, storage: AtomicDriver): EntryStore =>
  openEntries({ issuer, storage })

/** Returns the tenant with this name, in the configuration or in the storage; `undefined` if there is none, or it is disabled. */
export async function findTenant(
  { list }: TenantsConfiguration,
  entries: EntryStore | undefined,
  name: string,
): Promise<FoundTenant | undefined> {
  const listed = list.find((tenant) => tenant.name === name)
  const entry = listed === undefined ? await entries?.get('tenant', name) : undefined
  const match =
    listed === undefined
      ? entry && storedTenant(entry)
      : { tenant: listed, space: configuredSpace(name), version: 'configured' }
  if (!match?.tenant.enabled) return undefined
  await loadNamedPlugins(match.tenant.plugins)
  return match
}
