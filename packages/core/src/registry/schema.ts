import type { GenericSchema } from 'valibot'

/** Whether a value is a synchronous valibot schema. An asynchronous one would accept everything. */
export const isSchema = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  value.kind === 'schema' &&
  'async' in value &&
  value.async === false

/** The parts of a valibot schema that list its entries. */
interface Shape {
  readonly type: string
  readonly entries?: object
  readonly options?: readonly unknown[]
}

/**
 * Returns the parameter names that a schema declares: the entries of an object, and of every object in a union, variant
 * or intersection. Returns `undefined` if the schema accepts any name (`looseObject`, `record`, other kinds).
 */
export function declaredParameters(schema: GenericSchema): readonly string[] | undefined {
  const { type, entries, options } = schema as unknown as Shape
  if (type === 'object' || type === 'strict_object') return Object.keys(entries ?? {})
  if (type !== 'union' && type !== 'variant' && type !== 'intersect') return undefined
  const names = (options ?? []).map((option) => declaredParameters(option as GenericSchema))
  return names.every((declared) => declared !== undefined) ? names.flat() : undefined
}
