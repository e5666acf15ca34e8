import { configurationObject, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { type AuthorizationFeature, pageClient } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountPasskeys, AccountSecondFactors } from '../shared/account-factors.ts'
import type { AccountStore } from '../shared/account-store.ts'
import { wholeSeconds } from '../shared/config-schema.ts'
import type { Mailer } from '../shared/mailer.ts'
import { accountEndpoint } from './page.ts'
import type { AccountPages } from './pages.ts'
import { accountPath } from './visit.ts'

export type {
  AccountPasskey,
  AccountPasskeys,
  AccountSecondFactors,
  NewAccountPasskey,
} from '../shared/account-factors.ts'
export type { DeviceName } from './device.ts'
export type {
  AccountForm,
  AccountMailView,
  AccountNotice,
  AccountPages,
  AddPasskeyView,
  ApplicationView,
  ConfirmView,
  FactorsView,
  OverviewView,
  PasskeyView,
  RecoveryCodesView,
  RenamePasskeyView,
  SessionView,
  SetUpAppView,
} from './pages.ts'

/** The options that are data. */
export const accountSchema = configurationObject({
  maxAge: v.optional(wholeSeconds(30, 86_400), 300),
})

export interface AccountPageOptions extends v.InferInput<typeof accountSchema> {
  readonly pages: AccountPages
  /** The passkeys of users, such as `storedPasskeys()`. Pass the same to `signIn()`. */
  readonly passkeys?: AccountPasskeys | undefined
  /** The second factors of users: `account` of `storedSecondFactors()`. Pass its `factors` to `signIn()`. */
  readonly secondFactors?: AccountSecondFactors | undefined
  /** The accounts of users: with their verified addresses, changes are reported by mail. */
  readonly accounts?: AccountStore | undefined
  /** Sends mails about changes. */
  readonly mailer?: Mailer | undefined
  /** Seconds for which an authentication permits changes. Default: 300. */
  readonly maxAge?: number | undefined
}

const portSchema = <T>(expected: string) =>
  v.optional(v.custom<T>((value) => typeof value === 'object' && value !== null, `must be ${expected}`))

const optionsSchema = configurationObject({
  ...accountSchema.entries,
  passkeys: portSchema<AccountPasskeys>('storedPasskeys()'),
  secondFactors: portSchema<AccountSecondFactors>('storedSecondFactors().account'),
  accounts: portSchema<AccountStore>('an account store'),
  mailer: portSchema<Mailer>('a mailer, such as smtpMailer()'),
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
  const options = parseConfiguration(optionsSchema, input, 'accountPage()')
  return {
    describesSessions: true,
    endsAuthorizations: true,
    parts({ sessions, consents }) {
      const client = pageClient('urn:grantry:account-page', accountPath)
      return [client.part, accountEndpoint({ sessions, consents, client, ...options })]
    },
  }
}
