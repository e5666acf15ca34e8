import * as v from 'valibot'
import { numeric } from '../../numeric.ts'

export const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`))

const name = '1 to 40 lower-case letters, digits and _, the first no digit'

/** The name of a table, its prefix or its schema. */
export const tableName = (defaultName: string) =>
  v.optional(v.pipe(text(name), v.regex(/^[a-z_][a-z0-9_]{0,39}$/u, `must be ${name}`)), defaultName)

export const prefix = tableName('grantry')

export const operationTimeout = v.optional(
  v.pipe(
    numeric('must be a number of seconds'),
    v.minValue(0.05, 'must be 0.05 to 60 seconds'),
    v.maxValue(60, 'must be 0.05 to 60 seconds'),
  ),
  2,
)
