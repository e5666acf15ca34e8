import type { EntryType } from '../entry-type.ts'

/** A tenant in the storage. Its clients, scopes and users are entries of its own part of the storage. */
export interface TenantMembers {
  /** The key by which requests name the tenant: a segment of their path, or their host. */
  readonly name: string
  /** Default: `true`. Requests of a tenant that is disabled are refused. */
  readonly enabled?: boolean | undefined
  /** Options of plugins that differ from those of the server, by name. */
  readonly plugins?: readonly { readonly name: string }[] | undefined
  /** Whether the tenant has a page at its URL. */
  readonly homePage?: boolean | undefined
}

/** Options of plugins can be secrets, such as that of a client at another provider: only their names are shown. */
function withoutOptions(member: string, value: unknown): unknown {
  if (member !== 'plugins' || !Array.isArray(value)) return value
  return value.map((plugin) => ({ name: String((plugin as Partial<TenantMembers>)?.name) }))
}

export const tenantType: EntryType<TenantMembers> = {
  kind: 'tenant',
  noun: 'tenant',
  idMember: 'name',
  switch: 'enabled',
  isEnabled: ({ enabled }) => enabled !== false,
  shown: withoutOptions,
}
