import type { Grant, GrantCheck, Plugin } from '@grantry/core'
import { eachPlugin } from '../configuration/each-plugin.ts'

/** A field of a grant's form. */
export interface KnownField {
  readonly name: string
  readonly required: boolean
}

/** What the page needs to know of a grant type to make a form of it. */
export interface KnownGrant {
  readonly grantType: string
  /** `undefined` where the schema does not tell: the page then offers free fields. */
  readonly fields?: readonly KnownField[]
  readonly scope: 'required' | 'optional' | 'ignored'
}

const optionalTypes: ReadonlySet<string> = new Set(['optional', 'exact_optional', 'nullish', 'undefinedable'])

/** The names in a valibot object, also under a pipe; another kind of schema tells none. */
function fieldsOf(schema: object): readonly KnownField[] | undefined {
  const { entries } = schema as { readonly entries?: Readonly<Record<string, { readonly type?: unknown }>> }
  if (typeof entries !== 'object' || entries === null) return undefined
  return Object.entries(entries).map(([name, { type }]) => ({ name, required: !optionalTypes.has(String(type)) }))
}

/** Every grant type of these plugins with its own fields and those of the checks that run on it. */
export function knownGrants(plugins: Plugin): readonly KnownGrant[] {
  const all = eachPlugin(plugins)
  const checks = all.filter((plugin): plugin is GrantCheck => plugin.kind === 'grant-check')
  return all
    .filter((plugin): plugin is Grant => plugin.kind === 'grant')
    .map(({ grantType, params, scope = 'required' }) => {
      const own = fieldsOf(params)
      const more = checks
        .filter(({ grantTypes }) => grantTypes.includes(grantType))
        .flatMap((check) => fieldsOf(check.params) ?? [])
      return { grantType, scope, ...(own !== undefined && { fields: [...own, ...more] }) }
    })
}
