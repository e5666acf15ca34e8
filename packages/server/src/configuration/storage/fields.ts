import * as v from 'valibot'

export const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`))

export const operationTimeout = v.optional(
  v.pipe(
    v.number('must be a number of seconds'),
    v.minValue(0.05, 'must be 0.05 to 60 seconds'),
    v.maxValue(60, 'must be 0.05 to 60 seconds'),
  ),
  2,
)
