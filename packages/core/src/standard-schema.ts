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

/** The first problem comes first. */
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
  // Through its own function, which can stop at the first issue.
  const result = v.safeParse(schema, value, { abortEarly: true })
  return result.success ? { value: result.output } : { issues: result.issues as unknown as SchemaIssues }
}
