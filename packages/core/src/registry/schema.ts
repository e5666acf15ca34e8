import type { Schema } from '../standard-schema.ts'

/** Whether a value is a Standard Schema. */
export function isSchema(value: unknown): value is Schema {
  // The schemas of arktype are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false
  const { version, validate } = { ...(value['~standard'] as object) } as Partial<Schema['~standard']>
  return version === 1 && typeof validate === 'function'
}

/** The parts of a valibot schema that list its entries, and that of a zod schema. */
interface Shape {
  readonly type?: unknown
  readonly entries?: object
  readonly options?: readonly unknown[]
  readonly shape?: unknown
  readonly def?: unknown
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Whether a zod object passes on members that it does not declare: `looseObject()`, `catchall()`. */
function isLoose(def: unknown): boolean {
  const { catchall } = Object(def) as { readonly catchall?: Shape }
  return catchall !== undefined && catchall.type !== 'never'
}

/**
 * Returns the parameter names that a schema declares: the entries of an object, and of every object in a union, variant
 * or intersection of valibot. Returns `undefined` if the schema accepts any name, or does not list its names.
 */
export function declaredParameters(schema: Schema): readonly string[] | undefined {
  const { type, entries, options, shape, def } = schema as Shape
  const { vendor } = schema['~standard']
  if (vendor === 'zod' && type === 'object' && isObject(shape) && !isLoose(def)) return Object.keys(shape)
  if (vendor !== 'valibot') return undefined
  if (type === 'object' || type === 'strict_object') return Object.keys(entries ?? {})
  if (type !== 'union' && type !== 'variant' && type !== 'intersect') return undefined
  const names = (options ?? []).map((option) => declaredParameters(option as Schema))
  return names.every((declared) => declared !== undefined) ? names.flat() : undefined
}
