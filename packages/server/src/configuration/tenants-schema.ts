import { type ClientOptions, configurationObject, isLoopbackHost, type ScopeOptions } from '@grantry/core'
import { isTenantName, tenantsByHost, tenantsByPath } from '@grantry/core/tenants'
import * as v from 'valibot'
import { numeric } from '../numeric.ts'
import { userSchema } from './users-schema.ts'

const isList = (value: unknown): boolean => Array.isArray(value)

/** A plugin whose options differ from those of the server. The whole entry is checked when both are joined. */
export const pluginDifference = v.looseObject(
  { name: v.string('must be the name of a plugin') },
  'must be { "name": ... } with the options that differ',
)

const plugins = v.optional(v.array(pluginDifference, 'must be an array'), [])

/** What an administrator can set of a tenant in the storage. */
export const storedTenantEntries = {
  name: v.string('must be the name of the tenant'),
  enabled: v.optional(v.boolean('must be true or false'), true),
  plugins,
  homePage: v.optional(v.boolean('must be true or false')),
} as const

export const storedTenantSchema = configurationObject(storedTenantEntries)

export const listedTenantSchema = configurationObject({
  ...storedTenantEntries,
  clients: v.optional(v.custom<readonly ClientOptions[]>(isList, 'must be an array of clients'), []),
  scopes: v.optional(v.custom<readonly ScopeOptions[]>(isList, 'must be an array of scopes'), []),
  users: v.optional(v.array(userSchema, 'must be an array of users'), []),
})

/** A tenant, checked. Tenants in the storage have no `clients`, `scopes` and `users` here. */
export type ConfiguredTenant = Pick<v.InferOutput<typeof listedTenantSchema>, 'name' | 'enabled' | 'plugins'> &
  Partial<v.InferOutput<typeof listedTenantSchema>>

const count = v.pipe(
  numeric('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be 1 or more'),
)

/** A host without a port, as `tenantsByHost()` finds it. */
const isHost = (name: string): boolean =>
  tenantsByHost().of({ url: '', headers: new Headers({ host: name }) } as Request) === name &&
  /[a-z]/u.test(name) &&
  !name.startsWith('[') &&
  !isLoopbackHost(name)

const isPrefix = (prefix: string): boolean => {
  try {
    tenantsByPath({ prefix })
    return true
  } catch {
    return false
  }
}

/** Returns what is wrong with the name of a tenant; `undefined` if nothing is. */
export function tenantNameProblem(name: string, by: 'path' | 'host'): string | undefined {
  if (by === 'path') {
    return isTenantName(name) ? undefined : 'must be 1 to 63 lower-case letters, digits and hyphens'
  }
  return isHost(name) ? undefined : 'must be the host of the tenant in lower case, such as id.acme.example'
}

/** Several issuers in this process. */
export const tenantsSchema = v.pipe(
  configurationObject({
    by: v.optional(v.picklist(['path', 'host'], 'must be path or host'), 'path'),
    prefix: v.optional(
      v.pipe(v.string('must be a path'), v.check(isPrefix, 'must be a path such as /t, in lower case')),
      '/t',
    ),
    maxOpen: v.optional(count, 100),
    closeAfter: v.optional(count, 600),
    list: v.optional(v.array(listedTenantSchema, 'must be an array of tenants'), []),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { by, list } = dataset.value
    const names = new Set<string>()
    for (const [index, { name }] of list.entries()) {
      const problem = names.has(name) ? 'is the name of an earlier tenant' : tenantNameProblem(name, by)
      names.add(name)
      if (problem !== undefined) addIssue({ message: `list[${index}].name ${problem}` })
    }
  }),
)

export type TenantsConfiguration = v.InferOutput<typeof tenantsSchema>
