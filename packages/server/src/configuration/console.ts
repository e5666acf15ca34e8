import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

export const objectSchema = configurationObject({
  /** Whether callers on other machines can open the console, under the host name of the issuer. */
  remote: v.optional(v.boolean('must be true or false'), false),
  /** Whether administrators need a second factor there. Default: where users can set one up. */
  requireSecondFactor: v.optional(v.boolean('must be true or false')),
})

/** Options of an enabled console. */
export type ConsoleOptions = Readonly<v.InferOutput<typeof objectSchema>>

const switchSchema = v.pipe(
  v.boolean('must be true, false, or an object like { "remote": true }'),
  v.transform((on): ConsoleOptions | undefined => (on ? { remote: false } : undefined)),
)

/**
 * `true`, `false` or an object of options; the output is `undefined` if the console is off. Chosen by the type of the
 * value, because the errors of a union would not name the path.
 */
export const consoleSchema = v.lazy(
  (input): v.GenericSchema<boolean | v.InferInput<typeof objectSchema>, ConsoleOptions | undefined> =>
    typeof input === 'object' && input !== null ? objectSchema : switchSchema,
)
