import * as v from 'valibot'
import { type TenantMembers, tenantType } from '../tenants/tenant-type.ts'
import type { Kind } from './kind.ts'
import { tenantTexts } from './member-texts.ts'

/** Describes the members. The server checks them, with the options of its plugins. */
const tenantSchema = v.object({
  name: v.string(),
  enabled: v.optional(v.boolean(), true),
  plugins: v.optional(v.array(v.looseObject({ name: v.string() }))),
  homePage: v.optional(v.boolean()),
})

export const tenantKind: Kind<TenantMembers> = {
  type: tenantType,
  list: 'tenants',
  title: 'Tenant',
  schemaOf: () => tenantSchema,
  texts: tenantTexts,
  readOnly: {},
  heading: 'NAME',
  columns: [],
  managerOf: ({ tenants }) => tenants,
  async add({ tenants }, value, tags) {
    return { entry: await tenants.add(value, tags) }
  },
}
