import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

export const grantrySchema = configurationObject({
  ...presetEntries('grantry', 'Grantry'),
  issuer: text,
  scope: v.optional(text, 'openid profile email'),
})

export type GrantryOptions = OptionsOf<typeof grantrySchema>

/**
 * Users sign in with another Grantry.
 *
 * @throws TypeError when an option is malformed.
 */
export const grantry = (options: GrantryOptions): UpstreamProvider =>
  parseConfiguration(grantrySchema, options, 'grantry()')
