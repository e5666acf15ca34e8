import type { Administrator } from '../audit.ts'
import { changed } from '../differences.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EntryManager, manageEntries } from '../manage-entries.ts'
import { type TenantMembers, tenantType } from './tenant-type.ts'

export type TenantManager = EntryManager<TenantMembers>

/**
 * Returns a changed tenant with the options of plugins that a change names without options. Only their names are shown,
 * so an administrator who writes back what was read would otherwise remove all options.
 */
function withOptions(before: TenantMembers, after: TenantMembers): TenantMembers {
  // The check of the tenant refuses other types.
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
      // The note comes before the removal, because afterwards no record names the part of the storage. A note for a
      // tenant that still exists has no effect.
      const endedAt = deps.now()
      await deps.entries.create('ended-tenant', `${endedAt} ${createdAt}`, { name, createdAt, endedAt })
      await manager.remove(name, options)
    },
  }
}
