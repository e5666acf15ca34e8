import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

/** A console that is on. */
export interface ConsoleOptions {
  /** Whether callers on other machines may open it, under the host of the issuer. */
  readonly remote: boolean
}

type ConsoleInput = boolean | { readonly remote?: boolean | undefined }

const switchSchema = v.pipe(
  v.boolean('must be true, false, or an object like { "remote": true }'),
  v.transform((on): ConsoleOptions | undefined => (on ? { remote: false } : undefined)),
)

export const objectSchema = configurationObject({ remote: v.optional(v.boolean('must be true or false'), false) })

/** `true`, `false`, or an object of options; `undefined` when it is off. By what it looks like, so that a mistake inside is told with its path. */
export const consoleSchema = v.lazy(
  (input): v.GenericSchema<ConsoleInput, ConsoleOptions | undefined> =>
    typeof input === 'object' && input !== null ? objectSchema : switchSchema,
)
