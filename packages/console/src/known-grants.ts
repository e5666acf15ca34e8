import { collectParts, type Plugins } from '@grantry/core'

/** A request parameter of a grant. */
export interface KnownField {
  readonly name: string
  readonly required: boolean
}

/** A grant type with the information for its form. */
export interface KnownGrant {
  readonly grantType: string
  /** `undefined` if the schema does not list them. The page then offers free fields. */
  readonly fields?: readonly KnownField[]
  readonly scope: 'required' | 'optional' | 'ignored'
}

const optionalTypes: ReadonlySet<string> = new Set(['optional', 'exact_optional', 'nullish', 'undefinedable'])

/** Returns the entries of a valibot object schema, also inside a pipe; `undefined` for other schemas. */
function fieldsOf(schema: object): readonly KnownField[] | undefined {
  const { entries } = schema as { readonly entries?: Readonly<Record<string, { readonly type?: unknown }>> }
  if (typeof entries !== 'object' || entries === null) return undefined
  return Object.entries(entries).map(([name, { type }]) => ({ name, required: !optionalTypes.has(String(type)) }))
}

/** Returns the grant types of these plugins, without variants of a grant type, each with its own parameters and those of its grant checks. */
export function knownGrants(plugins: Plugins): readonly KnownGrant[] {
  const parts = collectParts(plugins).map(({ part }) => part)
  const checks = parts.filter((part) => part.kind === 'grant-check')
  const grants = parts.filter((part) => part.kind === 'grant')
  const plain = grants.filter(({ variant }) => variant === undefined).map(({ grantType }) => grantType)
  return grants
    .filter(({ grantType, variant }) => variant === undefined || !plain.includes(grantType))
    .map(({ grantType, params, scope: rule = 'required' }) => {
      const fields = fieldsOf(params)
      const more = checks
        .filter(({ grantTypes }) => grantTypes === 'all' || grantTypes.includes(grantType))
        .flatMap((check) => fieldsOf(check.params) ?? [])
      const scope = rule === 'foreign' ? 'optional' : rule
      return { grantType, scope, ...(fields !== undefined && { fields: [...fields, ...more] }) }
    })
}
