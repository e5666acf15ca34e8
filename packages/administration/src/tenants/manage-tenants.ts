import type { Administrator } from '../audit.ts'
import { changed } from '../differences.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EntryManager, manageEntries } from '../manage-entries.ts'
import { type TenantMembers, tenantType } from './tenant-type.ts'

export type TenantManager = EntryManager<TenantMembers>

/**
 * Returns a changed tenant with the options of plugins that a change names without options. Only names are shown: who writes
 * back what was read would otherwise remove all options.
 */
function withOptions(before: TenantMembers, after: TenantMembers): TenantMembers {
  // The check of the tenant refuses what is no list.
  if (!Array.isArray(before.plugins) || !Array.isArray(after.plugins)) return after
  const stored = new Map(before.plugins.map((plugin) => [plugin.name, plugin]))
  const plugins = after.plugins.map((plugin: unknown) => {
    const { name, ...options } = Object(plugin) as { readonly name?: unknown }
    const isBare = typeof name === 'string' && Object.keys(options).length === 0
    return isBare ? (stored.get(name) ?? plugin) : plugin
  })
  return { ...after, plugins }
}

/** Manages the tenants in the storage in the name of an administrator. */
export function manageTenants(deps: ManageDeps<TenantMembers>, by: Administrator): TenantManager {
  const manager = manageEntries(tenantType, deps, by)
  const replace: TenantManager['replace'] = (name, change, options) =>
    manager.replace(name, (value) => withOptions(value, change(value)), options)
  return {
    ...manager,
    replace,
    edit: (name, change, options) => replace(name, (value) => changed(value, { name, ...change }), options),
    async remove(name, options) {
      const { createdAt } = await manager.show(name)
      // Before it: afterwards, nothing knows its part of the storage. A note of a tenant that exists has no effect.
      const endedAt = deps.now()
      await deps.entries.create('ended-tenant', `${endedAt} ${createdAt}`, { name, createdAt, endedAt })
      await manager.remove(name, options)
    },
  }
}
