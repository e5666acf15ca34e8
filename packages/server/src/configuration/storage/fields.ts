import * as v from 'valibot'

export const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`))

/** The prefix of the name of a table. */
export const prefix = v.optional(
  v.pipe(
    text('a name of lower-case letters, digits and _'),
    v.regex(/^[a-z_][a-z0-9_]{0,40}$/u, 'must be a name of lower-case letters, digits and _'),
  ),
  'grantry',
)

export const operationTimeout = v.optional(
  v.pipe(
    v.number('must be a number of seconds'),
    v.minValue(0.05, 'must be 0.05 to 60 seconds'),
    v.maxValue(60, 'must be 0.05 to 60 seconds'),
  ),
  2,
)
