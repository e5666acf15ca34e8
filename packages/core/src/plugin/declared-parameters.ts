import type { GenericSchema } from 'valibot'

/** The parts of a schema that say which names it reads. */
interface Shape {
  readonly type: string
  readonly entries?: object
  readonly options?: readonly unknown[]
}

/**
 * The names of the parameters that a schema declares: the entries of an object, and of every object that a union, variant or intersection is made of.
 * `undefined` where it may read any name (`looseObject`, `record`, a schema of another kind).
 */
export function declaredParameters(schema: GenericSchema): readonly string[] | undefined {
  const { type, entries, options } = schema as unknown as Shape
  if (type === 'object' || type === 'strict_object') return Object.keys(entries ?? {})
  if (type !== 'union' && type !== 'variant' && type !== 'intersect') return undefined
  const names = (options ?? []).map((option) => declaredParameters(option as GenericSchema))
  return names.every((declared) => declared !== undefined) ? names.flat() : undefined
}
