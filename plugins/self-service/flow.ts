import type { EndpointKit, Reply } from '@grantry/core'
import { requestedTenant, type SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { Account, AccountStore } from '../shared/account-store.ts'
import type { Outgoing } from '../shared/outgoing-mails.ts'
import { rememberOwner } from '../shared/remember-owner.ts'
import type { SignInTools } from '../sign-in/sign-in.ts'
import type { MailPurpose, MailView, NewUserProblem } from './self-service-pages.ts'
import type { SelfServiceSettings } from './settings.ts'
import type { Ticket } from './ticket.ts'

/** What the endpoints of accounts use. */
export interface SelfServiceContext {
  readonly settings: SelfServiceSettings
  readonly tools: SignInTools
  readonly outgoing: Outgoing
}

/** The result of a look-up of an address. */
export interface Addressed {
  readonly account: Account | undefined
  /** Whether the link and the code prove something. */
  readonly counts: boolean
  /** The mail that is sent, and where; `undefined` if there is none. */
  readonly mail: { readonly kind: 'itself' | 'account_exists'; readonly to: string } | undefined
}

/** What the user has entered on the last page. */
export interface Entered {
  readonly username: string
  readonly password: string
}

/** An action that a mailed proof permits, such as a new password. */
export interface Purpose {
  readonly name: MailPurpose
  readonly asksForPassword: boolean
  readonly asksForName: boolean
  /** Whether mails contain a link, and a code. */
  readonly contains: { readonly link: boolean; readonly code: boolean }
  lookUp(address: string, services: SelfServiceContext, kit: EndpointKit): Promise<Addressed>
  /** Checks what the user has entered, before the proof is used. */
  problem(
    entered: Entered,
    ticket: Pick<Ticket, 'address' | 'name'>,
    services: SelfServiceContext,
    kit: EndpointKit,
  ): Promise<NewUserProblem | undefined>
  /** Performs the action, after the proof was used. Returns `undefined` if it is no longer possible. */
  finish(
    entered: Entered,
    ticket: Ticket,
    interaction: SuspendedInteraction,
    services: SelfServiceContext,
  ): Promise<Reply | undefined>
}

/** Calls the store, which is a function of the host. */
export const callStore = <T>(
  name: keyof AccountStore,
  kit: EndpointKit,
  { settings }: Pick<SelfServiceContext, 'settings'>,
  call: (store: AccountStore) => T | Promise<T>,
): Promise<T> => kit.callHost(`selfService.store.${name}`, () => call(settings.store)) as Promise<T>

export const localeFor = (
  { request, http }: Pick<SuspendedInteraction, 'request' | 'http'>,
  { settings }: Pick<SelfServiceContext, 'settings'>,
): string => settings.pages.localeOf(request.uiLocales, http.header('accept-language'))

/** Sends a mail after the response. Without an address, does the same work. */
export function postMail(
  view: MailView,
  to: string | undefined,
  interaction: SuspendedInteraction,
  services: Pick<SelfServiceContext, 'settings' | 'outgoing'>,
): void {
  const mail = services.settings.pages.mail(view, localeFor(interaction, services))
  services.outgoing.post(view.kind, to === undefined ? undefined : { to, ...mail }, interaction.kit)
}

/** Remembers the address of the owner of an account, who has just chosen the password. */
export const rememberOwnerIn = (
  account: Account,
  password: string,
  { request, http: { clientAddress }, kit }: SuspendedInteraction,
): Promise<void> =>
  rememberOwner(account, password, kit, {
    clientAddress,
    client: request.client,
    tenant: requestedTenant(request.acrValues),
  })

/** The circumstances of an event. */
export const contextOf = ({ request, http }: SuspendedInteraction, sub: string | undefined) => ({
  sub,
  client: request.client,
  clientAddress: http.clientAddress,
})
