import { admin, adminSchema } from '@grantry/administration/api'
import { configurationObject, type Plugins } from '@grantry/core'
import * as v from 'valibot'
import { type Context, named, noAdminHost } from './plugin-hosts.ts'

const adminEntry = configurationObject({
  ...adminSchema.entries,
  /** Default with the console: its client only. */
  clients: v.optional(adminSchema.entries.clients),
})

const createAdmin = ({ clients = [], ...options }: v.InferInput<typeof adminEntry>, { adminHost }: Context): Plugins =>
  admin({ ...options, clients, host: adminHost ?? noAdminHost })

export const plugin = named(adminEntry, createAdmin, undefined)
