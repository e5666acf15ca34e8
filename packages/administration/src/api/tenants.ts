import * as v from 'valibot'
import { type TenantMembers, tenantType } from '../tenants/tenant-type.ts'
import { entryOperations } from './entries.ts'
import type { MemberTexts } from './member-texts.ts'
import type { Operation } from './operation.ts'

/** Describes the members. The server checks them, with the options of its plugins. */
const tenantSchema = v.object({
  name: v.string(),
  enabled: v.optional(v.boolean(), true),
  plugins: v.optional(v.array(v.looseObject({ name: v.string() }))),
  homePage: v.optional(v.boolean()),
})

const tenantTexts: MemberTexts = {
  name: {
    title: 'Name',
    description: 'The segment of the path, or the host, by which requests name the tenant. It never changes.',
  },
  enabled: { title: 'Enabled', description: 'Requests of a tenant that is disabled are refused.' },
  plugins: {
    title: 'Plugins',
    description:
      'Options of plugins that differ from those of the server, by name. Only the names are returned. A name without options keeps those that are stored; a plugin that is left out has the options of the server.',
  },
  homePage: { title: 'Home page', description: 'Whether the tenant has a page at its URL.' },
  tags: { title: 'Tags', description: 'Labels for administrators, to find it again.' },
}

export const tenantOperations: readonly Operation[] = entryOperations<TenantMembers>({
  type: tenantType,
  segment: 'tenants',
  members: { schemaOf: () => tenantSchema, texts: tenantTexts },
  title: 'Tenant',
  readOnly: {},
  managerOf: ({ tenants }) => tenants,
  async add({ tenants }, value, tags) {
    return { entry: await tenants.add(value, tags) }
  },
})
