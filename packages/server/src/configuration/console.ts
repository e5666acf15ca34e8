import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

/** Options of an enabled console. */
export interface ConsoleOptions {
  /** Whether callers on other machines can open it, under the host name of the issuer. */
  readonly remote: boolean
  /** Whether administrators need a second factor there. Default: where users can set one up. */
  readonly requireSecondFactor?: boolean | undefined
}

type ConsoleInput =
  | boolean
  | { readonly remote?: boolean | undefined; readonly requireSecondFactor?: boolean | undefined }

const switchSchema = v.pipe(
  v.boolean('must be true, false, or an object like { "remote": true }'),
  v.transform((on): ConsoleOptions | undefined => (on ? { remote: false } : undefined)),
)

export const objectSchema = configurationObject({
  /** Whether other machines can open the console. */
  remote: v.optional(v.boolean('must be true or false'), false),
  /** Whether administrators need a second factor. */
  requireSecondFactor: v.optional(v.boolean('must be true or false')),
})

/**
 * `true`, `false` or an object of options; the output is `undefined` if the console is off. Chosen by the type of the
 * value, because the errors of a union would not name the path.
 */
export const consoleSchema = v.lazy(
  (input): v.GenericSchema<ConsoleInput, ConsoleOptions | undefined> =>
    typeof input === 'object' && input !== null ? objectSchema : switchSchema,
)
