import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

export const gitlabSchema = configurationObject({
  ...presetEntries('gitlab', 'GitLab'),
  clientSecret: text,
  /** The URL of GitLab. */
  url: v.optional(text, 'https://gitlab.com'),
})

export type GitlabOptions = OptionsOf<typeof gitlabSchema>

/**
 * Users sign in with GitLab.
 *
 * @throws TypeError when an option is malformed.
 */
export function gitlab(options: GitlabOptions): UpstreamProvider {
  const { url, ...common } = parseConfiguration(gitlabSchema, options, 'gitlab()')
  return { ...common, issuer: url.replace(/\/$/u, '') }
}
