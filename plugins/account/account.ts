import { configurationObject, type MembersOf, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { type AuthorizationFeature, pageClient } from '../authorization-endpoint/authorization-endpoint.ts'
import {
  type AccountPasskeys,
  type AccountSecondFactors,
  accountPasskeyFunctions,
  accountSecondFactorFunctions,
} from '../shared/account-factors.ts'
import { accountStoreSchema } from '../shared/account-store.ts'
import { functionSchema, portSchema, wholeSeconds } from '../shared/config-schema.ts'
import type { ProviderLinks } from '../shared/linked-providers.ts'
import { mailLimitsSchema } from '../shared/mail-limits.ts'
import { mailerSchema } from '../shared/mailer.ts'
import { newPasswordsSchema } from '../shared/new-passwords.ts'
import { createOutgoing } from '../shared/outgoing-mails.ts'
import { checkAcceptedFor } from './accepted.ts'
import { type AccountPages, accountPageNames } from './account-pages.ts'
import { noteChange } from './changes.ts'
import { clientDemands, type demandMembers } from './client-demand.ts'
import { demandStep, provesFactor } from './demand.ts'
import { accountEndpoint } from './page.ts'
import { profileClaims, usualClaims } from './profile-claims.ts'
import { removalTask } from './removal.ts'
import { isRemoved } from './removed-user.ts'
import type { DownloadMore, RemoveUser } from './services.ts'
import { accountClientId, accountPath } from './visit.ts'

export type {
  AccountPasskey,
  AccountPasskeys,
  AccountSecondFactors,
  NewAccountPasskey,
} from '../shared/account-factors.ts'
export type {
  Link,
  LinkableProvider,
  LinkedProviders,
  LinkingSession,
  NewLink,
  ProviderLinks,
} from '../shared/linked-providers.ts'
export type {
  AccountForm,
  AccountFormPage,
  AccountMailView,
  AccountNotice,
  AccountPages,
  AddPasskeyView,
  AddressMailView,
  AddressProblem,
  ApplicationView,
  ChangeAddressView,
  ChangePasswordView,
  ChangeProfileView,
  ConfirmView,
  FactorsView,
  KeptForm,
  LinkedView,
  OverviewView,
  PasskeySignals,
  PasskeyView,
  ProfileField,
  ProfileProblem,
  ProveAddressView,
  RecoveryCodesView,
  RenamePasskeyView,
  SessionView,
  SetUpAppView,
} from './account-pages.ts'
export type { DeviceName } from './device.ts'
export type { ProfileClaim } from './profile-claims.ts'

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof demandMembers> {}
}

/** The options that are data. */
export const accountSchema = configurationObject({
  /** Seconds for which an authentication permits changes. Default: 300. */
  maxAge: v.optional(wholeSeconds(30, 86_400), 300),
  /**
   * The claims that users change themselves, of `accounts`: those that say who they are, and give no rights. Default: `name`,
   * `given_name`, `family_name`, `nickname`, `zoneinfo` and `locale`.
   */
  profile: v.optional(
    v.array(v.picklist(profileClaims, `must be one of ${profileClaims.join(', ')}`), 'must be an array of claims'),
  ),
  /** Whether users download what is stored of them. Default: `true`. */
  download: v.optional(v.boolean('must be true or false'), true),
  /** Whether users delete their accounts. Requires `removeUser`, or `accounts` with `remove`. Default: `false`. */
  deletion: v.optional(v.boolean('must be true or false'), false),
  /**
   * Whether users must set up a second factor before a client gets a code, and cannot remove the last one. A passkey is
   * one. Requires `secondFactors`. Default: `false`.
   */
  requireSecondFactor: v.optional(v.boolean('must be true or false'), false),
  /** Values of `acr_values` that demand a second factor for the request. Requires `secondFactors`. */
  secondFactorAcrValues: v.optional(v.array(v.string('must be a string'), 'must be an array of strings'), []),
  /**
   * The `acr` of a session in which the user has set up a factor: that of `signIn()`. A request for it as an essential claim
   * demands a factor.
   */
  secondFactorAcr: v.optional(v.string('must be a string')),
})

const optionsSchema = configurationObject({
  ...accountSchema.entries,
  /** The passkeys of users, such as `storedPasskeys()`. Pass the same to `signIn()`. */
  passkeys: v.optional(portSchema<AccountPasskeys>('storedPasskeys()', accountPasskeyFunctions)),
  /** The second factors of users: `account` of `storedSecondFactors()`. Pass its `factors` to `signIn()`. */
  secondFactors: v.optional(
    portSchema<AccountSecondFactors>('storedSecondFactors().account', accountSecondFactorFunctions),
  ),
  /** Lets users link accounts at other providers: the result of `upstream()`, which is one of the `ways` of `signIn()`. */
  linkedProviders: v.optional(portSchema<ProviderLinks>('the result of upstream()', { linked: true, onLinked: true })),
  /** The accounts of users: with their verified addresses, changes are reported by mail. */
  accounts: v.optional(accountStoreSchema),
  /** Lets users change their passwords, by the rules of `selfService()`. Requires `accounts`. */
  passwords: v.optional(newPasswordsSchema),
  /** Mails with codes in an hour. Default: those of `selfService()`, and together with them. */
  mailLimits: mailLimitsSchema,
  /** Returns what the host stores of a user, for the member `more` of the document. */
  downloadMore: functionSchema<DownloadMore>(),
  /**
   * Removes the account of a user, instead of `remove` of `accounts`. Called again until it has resolved once, also for a
   * user who is removed already. With `refused`, the account stays.
   */
  removeUser: functionSchema<RemoveUser>(),
  /** Sends mails about changes, and the codes that prove a new address. Without it, users do not change their addresses. */
  mailer: v.optional(mailerSchema),
  pages: portSchema<AccountPages>('the pages of createAccountPages()', accountPageNames),
})

export type AccountPageOptions = OptionsOf<typeof optionsSchema>

type Demanding = Parameters<typeof demandStep>[0]

/** What users must do before a client gets a code. One who is about to be removed gets none. */
function stepOf(settings: Demanding & { readonly deletion: boolean }): NonNullable<AuthorizationFeature['step']> {
  const demand = settings.secondFactors === undefined ? undefined : demandStep(settings)
  return async (interaction, sub) =>
    settings.deletion && (await isRemoved(interaction.kit, sub))
      ? { refuse: 'access_denied' }
      : demand?.(interaction, sub)
}

/**
 * A page on which users manage themselves: their sessions, and the applications with access. Pass it to
 * `authorizationEndpoint()` as one of its `features`. Its sign-in is that of the endpoint.
 *
 * @throws TypeError when an option is malformed.
 */
export function accountPage(input: AccountPageOptions): AuthorizationFeature {
  const options = parseConfiguration(optionsSchema, input, 'accountPage()')
  const { profile = usualClaims } = options
  const client = pageClient(accountClientId, accountPath)
  const { secondFactors, requireSecondFactor, secondFactorAcrValues } = options
  const isDemanded = requireSecondFactor || secondFactorAcrValues.length > 0
  if (isDemanded && secondFactors === undefined) {
    throw new TypeError('accountPage(): requireSecondFactor and secondFactorAcrValues require secondFactors')
  }
  if (options.passwords !== undefined && options.accounts === undefined) {
    throw new TypeError('accountPage(): passwords requires accounts')
  }
  if ((options.profile ?? []).length > 0 && options.accounts === undefined) {
    throw new TypeError('accountPage(): profile requires accounts')
  }
  if (options.deletion && options.removeUser === undefined && options.accounts?.remove === undefined) {
    throw new TypeError('accountPage(): deletion requires removeUser, or accounts with remove')
  }
  options.linkedProviders?.onLinked(({ sub, request, kit }) => {
    const locale = options.pages.localeOf(undefined, request.header('accept-language'))
    return noteChange('provider_linked', { session: { subject: { sub } }, request, kit, locale }, options)
  })
  const outgoing = options.accounts && options.mailer && createOutgoing(options.mailer, 'account.mailer')
  const demands = clientDemands(secondFactors !== undefined)
  const settings = { ...options, profile, outgoing, client, clientDemands: demands }
  return {
    describesSessions: true,
    checkAccepted: checkAcceptedFor(options),
    suffices: provesFactor(options),
    ...(options.deletion && { mayLast: async (kit, sub) => !(await isRemoved(kit, sub)) }),
    ...((secondFactors !== undefined || options.deletion) && { step: stepOf(settings) }),
    parts: (services) => [
      client.part,
      ...demands.parts,
      accountEndpoint({ ...services, ...settings }),
      ...(options.deletion ? [removalTask({ ...services, ...settings })] : []),
      ...(outgoing === undefined ? [] : [outgoing.part]),
    ],
  }
}
