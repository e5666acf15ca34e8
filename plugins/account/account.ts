import { configurationObject, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { type AuthorizationFeature, pageClient } from '../authorization-endpoint/authorization-endpoint.ts'
import { wholeSeconds } from '../shared/config-schema.ts'
import { accountEndpoint } from './page.ts'
import type { AccountPages } from './pages.ts'
import { accountPath } from './visit.ts'

export type { DeviceName } from './device.ts'
export type {
  AccountForm,
  AccountNotice,
  AccountPages,
  ApplicationView,
  ConfirmView,
  OverviewView,
  SessionView,
} from './pages.ts'

/** The options that are data. */
export const accountSchema = configurationObject({
  maxAge: v.optional(wholeSeconds(30, 86_400), 300),
})

export interface AccountPageOptions extends v.InferInput<typeof accountSchema> {
  readonly pages: AccountPages
  /** Seconds for which an authentication permits changes. Default: 300. */
  readonly maxAge?: number | undefined
}

const optionsSchema = configurationObject({
  ...accountSchema.entries,
  pages: v.custom<AccountPages>(
    (value) => typeof value === 'object' && value !== null && 'overview' in value,
    'must be the pages of createAccountPages()',
  ),
})

/**
 * A page on which users manage themselves: their sessions, and the applications with access. Pass it to
 * `authorizationEndpoint()` as one of its `features`. Its sign-in is that of the endpoint.
 *
 * @throws TypeError when an option is malformed.
 */
export function accountPage(input: AccountPageOptions): AuthorizationFeature {
  const { pages, maxAge } = parseConfiguration(optionsSchema, input, 'accountPage()')
  return {
    describesSessions: true,
    endsAuthorizations: true,
    parts({ sessions, consents }) {
      const client = pageClient('urn:grantry:account-page', accountPath)
      return [client.part, accountEndpoint({ sessions, consents, pages, maxAge, client })]
    },
  }
}
