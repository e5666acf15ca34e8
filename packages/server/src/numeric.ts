import * as v from 'valibot'

const digits = /^\d{1,15}(?:\.\d{1,6})?$/u

/** A number, or a text with one: variables of the environment are texts, such as `"port": "${METRICS_PORT}"`. */
export const numeric = (message: string): v.GenericSchema<number> =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(digits, message))], message),
    v.transform(Number),
  ) as unknown as v.GenericSchema<number>
