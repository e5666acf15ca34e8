import * as v from 'valibot'

const digits = /^\d{1,15}(?:\.\d{1,6})?$/u

/** A number, or a text with one: variables of the environment are texts, such as `"port": "${METRICS_PORT}"`. */
export const numeric = (message: string): v.GenericSchema<number> =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(digits, message))], message),
    v.transform(Number),
  ) as unknown as v.GenericSchema<number>

/** An optional member of a schema with numbers, which can be a text with a number, too. */
export const numericMember = <D extends number | undefined>({
  wrapped,
  default: value,
}: v.OptionalSchema<v.GenericSchema<number>, D>): v.OptionalSchema<v.GenericSchema<number>, D> =>
  v.optional(v.pipe(numeric('must be a number'), wrapped), value)
