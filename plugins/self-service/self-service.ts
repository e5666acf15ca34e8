import { type OptionsOf, parseConfiguration } from '@grantry/core'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { rememberPlace } from '../shared/mail-limits.ts'
import { createOutgoing } from '../shared/outgoing-mails.ts'
import type { SignInTools, SignInWay, SignInWays } from '../sign-in/sign-in.ts'
import { invitationParts } from './accept-invitation.ts'
import { endpointsOf } from './endpoints.ts'
import { callStore, type Purpose, type SelfServiceContext } from './flow.ts'
import { setNewPassword, wayName } from './new-password.ts'
import { mailSignIn, recovery, signUp } from './purposes.ts'
import type { MailPurpose } from './self-service-pages.ts'
import { type SelfServiceSettings, selfServiceSchema } from './settings.ts'
import { askPage, urlOf } from './views.ts'

export type { Account, AccountChanges, AccountStore, NewAccount } from '../shared/account-store.ts'
export type { MailLimits } from '../shared/mail-limits.ts'
export type { Mailer, MailMessage } from '../shared/mailer.ts'
export type { NewPasswordsOptions } from '../shared/new-passwords.ts'
export { type PasswordProblem, type PasswordRules, passwordProblem } from '../shared/password-rules.ts'
export { type BreachedPasswordsOptions, breachedPasswords } from './breached-passwords.ts'
export {
  type Invitation,
  type InvitationProblem,
  type Invitations,
  invitations,
  type NewInvitation,
} from './invitations.ts'
export type {
  AccountProblem,
  AskAddressView,
  InvitationState,
  InvitationStateView,
  InvitedView,
  MailElsewhereView,
  MailProvedView,
  MailPurpose,
  MailSentView,
  MailView,
  NewUserProblem,
  RenderedMail,
  SelfServicePages,
} from './self-service-pages.ts'
export { passwordRulesSchema, selfServiceEntries } from './settings.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    mailRequest: true
    mailProof: true
  }
}

export type SelfServiceOptions = OptionsOf<typeof selfServiceSchema>

const purposesOf = (settings: SelfServiceSettings): readonly Purpose[] => [
  ...(settings.recovery ? [recovery] : []),
  ...(settings.signUp === 'open' ? [signUp(settings.names)] : []),
  ...(settings.mail === 'off' ? [] : [mailSignIn(settings.mail)]),
]

const kindOf = { recovery: 'recovery', sign_up: 'sign_up', sign_in: 'mail' } as const satisfies Record<
  MailPurpose,
  string
>

const linkTo = (purpose: Purpose, interaction: SuspendedInteraction): SignInWay => ({
  kind: kindOf[purpose.name],
  name: '',
  url: urlOf('mailRequest', purpose, interaction),
})

/**
 * Accounts that users manage themselves: they choose a new password by a mail, create an account, and sign in with a mailed
 * link or code. Pass it to `signIn({ ways })`.
 *
 * @throws TypeError when an option is malformed.
 */
export function selfService(options: SelfServiceOptions): SignInWays {
  const settings: SelfServiceSettings = parseConfiguration(selfServiceSchema, options, 'selfService()')
  const purposes = purposesOf(settings)
  const outgoing = createOutgoing(settings.mailer, 'selfService.mailer')
  const creating = purposes.find(({ name }) => name === 'sign_up')
  return {
    name: wayName,
    async proved(data, standing, interaction, sessions) {
      const outcome = await setNewPassword(data, standing, interaction, { settings, outgoing, sessions })
      if (outcome === undefined || !('changed' in outcome)) return outcome
      const state = { problem: 'account_changed', address: outcome.changed.email } as const
      return { refused: await askPage(recovery, interaction, { settings }, state) }
    },
    // With invitations, requests for a new account lead to the page of the sign-in.
    createsAccounts: settings.signUp !== 'closed',
    signsIn: settings.mail !== 'off',
    links: (interaction) => purposes.map((purpose) => linkTo(purpose, interaction)),
    chosen: (interaction) =>
      creating !== undefined && interaction.request.prompts.has('create') ? linkTo(creating, interaction) : undefined,
    nameOf: async (sub, kit) => (await callStore('find', kit, { settings }, (store) => store.find(sub)))?.username,
    signedIn: (sub, { http, kit }) => rememberPlace(sub, http.clientAddress, kit),
    parts(tools: SignInTools) {
      const services: SelfServiceContext = { settings, tools, outgoing }
      const invited = settings.signUp === 'invitation' ? invitationParts(services) : []
      return [...endpointsOf(services, purposes), ...invited, outgoing.part]
    },
  }
}
