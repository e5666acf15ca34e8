import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { wholeSeconds } from '../shared/config-schema.ts'
import { devicePageSchema } from './device-page-options.ts'
import { guessesSchema } from './verification.ts'

const uriSchema = v.pipe(v.string('must be a URL'), v.url('must be a URL'))

/** The schema of the options that are data. */
export const deviceAuthorizationSchema = configurationObject({
  /** The URL of the page where the user enters the code. Short, because people type it. */
  verificationUri: uriSchema,
  /** Seconds for which the codes are valid. Default: 600. */
  lifetime: v.optional(wholeSeconds(1, 3600), 600),
  /** Seconds between two requests of a device. Default: 5. */
  interval: v.optional(wholeSeconds(1, 60), 5),
  /**
   * The number of wrong user codes of one address that are answered in a window (seconds), on the page and by
   * `deviceVerification`. Default: 10 in 600.
   */
  guesses: v.optional(guessesSchema, {}),
})

export const optionsSchema = v.pipe(
  configurationObject({
    ...deviceAuthorizationSchema.entries,
    /**
     * The URL of the page where the user enters the code. Short, because people type it. Required without `page`; with
     * it, the default is the URL of that page.
     */
    verificationUri: v.optional(uriSchema),
    /** Serves the page where the user enters the code. Without it, the page at `verificationUri` is yours. */
    page: v.optional(devicePageSchema),
  }),
  v.forward(
    v.check(({ verificationUri, page }) => (verificationUri ?? page) !== undefined, 'is required without page'),
    ['verificationUri'],
  ),
)

export type DeviceAuthorizationOptions = OptionsOf<typeof optionsSchema>

export type Options = v.InferOutput<typeof optionsSchema>
