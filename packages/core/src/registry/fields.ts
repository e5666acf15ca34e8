import type { ObjectEntries } from 'valibot'
import { clientEntries, clientSchemaWith } from '../directory/client.ts'
import { scopeEntries, scopeSchemaWith } from '../directory/scope.ts'
import { isCoreError, type PluginErrors, type Statuses } from '../errors/error-response.ts'
import type { Fields } from '../plugin/fields.ts'
import type { Plugins } from '../plugin/plugin.ts'
import { collectParts, type OwnedPart, partsOf } from './collect.ts'

type AllFields = readonly OwnedPart<Fields>[]

/** Collects what plugins add under names of their own: each name has one owner, unless several share one value. */
function collect<T>(
  fields: AllFields,
  {
    what,
    valuesOf,
    isCore,
  }: {
    readonly what: string
    readonly valuesOf: (part: Fields) => Readonly<Record<string, T>> | undefined
    readonly isCore: (name: string) => boolean
  },
): readonly { readonly plugin: string; readonly name: string; readonly value: T }[] {
  const owned = new Map<string, { readonly plugin: string; readonly name: string; readonly value: T }>()
  for (const { plugin, part } of fields) {
    for (const [name, value] of Object.entries(valuesOf(part) ?? {})) {
      if (!/^[a-z]\w*$/u.test(name)) throw new TypeError(`plugins: ${plugin} has the invalid ${what} "${name}"`)
      const earlier = owned.get(name)
      // The same schema, which the plugins share, gives the member one meaning.
      if (typeof value === 'object' && value === earlier?.value) continue
      const owner = isCore(name) ? 'core' : earlier?.plugin
      if (owner !== undefined) {
        throw new TypeError(`plugins: ${owner} and ${plugin} both define the ${what} ${name}; remove one of them`)
      }
      owned.set(name, { plugin, name, value })
    }
  }
  return [...owned.values()]
}

function entriesOf(fields: AllFields, of: 'client' | 'scope', core: ObjectEntries): ObjectEntries {
  const what = `member of a ${of}`
  const members = collect(fields, { what, valuesOf: (part) => part[of], isCore: (name) => Object.hasOwn(core, name) })
  const entries = members.map(({ plugin, name, value }) => {
    const { kind, async } = Object(value)
    if (kind !== 'schema' || async !== false) {
      throw new TypeError(`plugins: ${plugin} has the ${what} ${name}, which is not a synchronous valibot schema`)
    }
    return [name, value] as const
  })
  return Object.fromEntries(entries)
}

/** @throws TypeError when a check is not a function. */
function checksOf(fields: AllFields) {
  return fields.flatMap(({ plugin, part: { checkClient } }) => {
    if (checkClient === undefined || typeof checkClient === 'function') return checkClient ?? []
    throw new TypeError(`plugins: ${plugin} has checkClient, which must be a function`)
  })
}

const schemasFrom = (fields: AllFields) => ({
  clientSchema: clientSchemaWith(entriesOf(fields, 'client', clientEntries), checksOf(fields)),
  scopeSchema: scopeSchemaWith(entriesOf(fields, 'scope', scopeEntries)),
})

/**
 * Returns the schemas of clients and scopes, with the members that these plugins add.
 *
 * @throws TypeError when two plugins define the same member, or one replaces a member of the core.
 */
export const directorySchemasOf = (plugins: Plugins) => schemasFrom(partsOf(collectParts(plugins), 'fields'))

const statuses: readonly unknown[] = [400, 401, 403]

/** Returns the statuses of an error code; `undefined` if they are not valid. */
function statusesOf(value: unknown): Statuses | undefined {
  const { client, bearer } = { client: value, bearer: value, ...Object(value) } as Record<'client' | 'bearer', number>
  // The seed, section 7: the validation endpoints respond with 400 to every refusal.
  return statuses.includes(client) && statuses.includes(bearer) ? { client, bearer, validation: 400 } : undefined
}

/**
 * Returns what the plugins add to clients, scopes and error codes.
 *
 * @throws TypeError when two plugins add the same name, or one replaces a name of the core.
 */
export function fieldsOf(fields: AllFields) {
  const errors = collect(fields, { what: 'error code', valuesOf: ({ errors: codes }) => codes, isCore: isCoreError })
  const pluginErrors: PluginErrors = new Map(
    errors.map(({ plugin, name, value }) => {
      const row = statusesOf(value)
      if (row !== undefined) return [name, row]
      throw new TypeError(`plugins: ${plugin} has the error code ${name} without the status 400, 401 or 403`)
    }),
  )
  return { ...schemasFrom(fields), pluginErrors }
}
