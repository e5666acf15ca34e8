import * as v from 'valibot'
import type { MaybePromise } from './types.ts'

/**
 * A schema of any library that implements Standard Schema version 1, such as valibot, zod or arktype.
 *
 * @see https://standardschema.dev
 */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => MaybePromise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The type of what a schema returns. */
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']

/** The problems that a schema has found, in its order. */
export type SchemaIssues = readonly {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}[]

type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: SchemaIssues }

const isValibot = (schema: Schema): schema is Schema & v.GenericSchema =>
  schema['~standard'].vendor === 'valibot' && 'async' in schema && schema.async === false

/** Validates a value. Synchronous if the schema is. */
export function validate<S extends Schema>(schema: S, value: unknown): MaybePromise<SchemaResult<OutputOf<S>>> {
  if (!isValibot(schema)) return schema['~standard'].validate(value)
  // Calls valibot's own function, which can stop at the first issue.
  const result = v.safeParse(schema, value, { abortEarly: true })
  return result.success ? { value: result.output } : { issues: result.issues as unknown as SchemaIssues }
}

export function isSchema(value: unknown): value is Schema {
  // The schemas of arktype are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false
  const { version, validate } = { ...(value['~standard'] as object) } as Partial<Schema['~standard']>
  return version === 1 && typeof validate === 'function'
}

/** The properties of valibot and zod schemas that describe their members and the schemas that they combine. */
interface Shape {
  readonly type?: unknown
  /** The members of an object of valibot. */
  readonly entries?: object
  /** The members of an object of zod. */
  readonly shape?: object
  readonly options?: readonly Schema[]
  readonly def?: {
    readonly catchall?: Shape
    readonly left?: Schema
    readonly right?: Schema
    readonly in?: Schema
    readonly innerType?: Schema
  }
}

/** The parameter names that a schema declares, and whether it passes on others. */
interface DeclaredNames {
  readonly names: readonly string[]
  readonly isOpen: boolean
}

const unknownNames: DeclaredNames = { names: [], isOpen: true }

function combined(schemas: readonly (Schema | undefined)[]): DeclaredNames {
  const declared = schemas.map((schema) => (schema === undefined ? unknownNames : namesIn(schema)))
  return { names: declared.flatMap(({ names }) => names), isOpen: declared.some(({ isOpen }) => isOpen) }
}

function namesInValibot({ type, entries, options = [] }: Shape): DeclaredNames {
  if (entries !== undefined) {
    return { names: Object.keys(entries), isOpen: type !== 'object' && type !== 'strict_object' }
  }
  return type === 'union' || type === 'variant' || type === 'intersect' ? combined(options) : unknownNames
}

function namesInZod({ type, shape, options = [], def = {} }: Shape): DeclaredNames {
  const { catchall, left, right, in: input, innerType } = def
  if (type === 'object' && shape !== undefined) {
    return { names: Object.keys(shape), isOpen: catchall !== undefined && catchall.type !== 'never' }
  }
  if (type === 'union') return combined(options)
  if (type === 'intersection') return combined([left, right])
  return combined([input ?? innerType])
}

function namesIn(schema: Schema): DeclaredNames {
  const { vendor } = schema['~standard']
  if (vendor === 'valibot') return namesInValibot(schema as Shape)
  return vendor === 'zod' ? namesInZod(schema as Shape) : unknownNames
}

/**
 * Returns the parameter names that a schema of valibot or zod declares, also those of the objects that it combines. A
 * schema can pass on other parameters too.
 */
export const namedParameters = (schema: Schema): readonly string[] => namesIn(schema).names

/** Returns all parameter names that a schema passes on; `undefined` if it passes on any, or does not list them. */
export function declaredParameters(schema: Schema): readonly string[] | undefined {
  const { names, isOpen } = namesIn(schema)
  return isOpen ? undefined : names
}
