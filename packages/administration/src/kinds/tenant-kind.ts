import { member, schemasOf, textsOf } from '@grantry/core'
import * as v from 'valibot'
import { type TenantMembers, tenantType } from '../tenants/tenant-type.ts'
import type { Kind } from './kind.ts'

/** Describes the members. The server checks them, with the options of its plugins. */
const members = {
  name: member(v.string(), {
    title: 'Name',
    text: 'The segment of the path, or the host, by which requests name the tenant. It never changes.',
    group: 'application',
  }),
  enabled: member(v.optional(v.boolean(), true), {
    title: 'Enabled',
    text: 'Requests of a tenant that is disabled are refused.',
    group: 'application',
  }),
  plugins: member(v.optional(v.array(v.looseObject({ name: v.string() }))), {
    title: 'Plugins',
    text: 'Options of plugins that differ from those of the server, by name. Only the names are returned. A name without options keeps those that are stored; a plugin that is left out has the options of the server.',
    group: 'application',
  }),
  homePage: member(v.optional(v.boolean()), {
    title: 'Home page',
    text: 'Whether the tenant has a page at its URL.',
    group: 'application',
  }),
}
const described = { schema: v.object(schemasOf(members)), texts: textsOf(members) }

export const tenantKind: Kind<TenantMembers> = {
  type: tenantType,
  list: 'tenants',
  title: 'Tenant',
  describe: () => described,
  readOnly: {},
  heading: 'NAME',
  columns: [],
  managerOf: ({ tenants }) => tenants,
  async add({ tenants }, value, tags) {
    return { entry: await tenants.add(value, tags) }
  },
}
