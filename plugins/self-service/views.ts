import { type EndpointKit, type EndpointRequest, parseUrl, type Reply } from '@grantry/core'
import * as v from 'valibot'
import {
  errorViewOf,
  formTargets,
  type SuspendedInteraction,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { clientView } from '../shared/client-members.ts'
import type { FormView } from '../sign-in/sign-in.ts'
import { localeFor, type Purpose, type SelfServiceContext } from './flow.ts'
import type { AskAddressView, MailProvedView, MailSentView } from './self-service-pages.ts'
import type { Ticket } from './ticket.ts'

export type MailEndpoint = 'mailRequest' | 'mailProof'

const tokenSchema = v.object({ purpose: v.string(), id: v.string() })

/** Whether a form belongs to this request, which is found in its browser only. */
export async function permits(formToken: string, { name }: Purpose, { kit, id }: SuspendedInteraction) {
  const token = await kit.unseal(formToken, tokenSchema)
  return token !== undefined && token.purpose === name && token.id === id
}

const proofSchema = v.object({ provedTicket: v.string() })

/** Returns the text that proves, in a form, that the user has opened the link or entered the code. Spends nothing. */
const proofOf = (ticket: Ticket, { kit }: SuspendedInteraction): Promise<string> =>
  kit.seal({ provedTicket: ticket.id }, ticket.expiresAt)

/** Whether a text is the proof of this ticket, which is found in its browser only. */
export async function isProved(proof: string, ticket: Ticket, { kit }: SuspendedInteraction): Promise<boolean> {
  const proved = await kit.unseal(proof, proofSchema)
  return proved !== undefined && proved.provedTicket === ticket.id
}

/** Returns the URL of an endpoint of accounts. Its host is that of the issuer. */
export function urlOf(
  endpoint: MailEndpoint,
  { name }: Pick<Purpose, 'name'>,
  { kit, id }: SuspendedInteraction,
  more: Readonly<Record<string, string>> = {},
): string {
  return `${kit.endpointUrl(endpoint)}?${new URLSearchParams({ interaction: id, for: name, ...more })}`
}

async function formView(
  endpoint: MailEndpoint,
  purpose: Purpose,
  interaction: SuspendedInteraction,
): Promise<FormView & { readonly purpose: Purpose['name']; readonly backUrl: string }> {
  const { kit, id, expiresAt, request } = interaction
  const formToken = await kit.seal({ purpose: purpose.name, id }, expiresAt)
  return {
    purpose: purpose.name,
    action: urlOf(endpoint, purpose, interaction),
    fields: { interaction: id, for: purpose.name, form_token: formToken },
    client: clientView(request.client),
    formTargets,
    // Not the URL that resumes: a request with prompt=create would lead here again.
    backUrl: `${kit.endpointUrl('mailRequest')}?${new URLSearchParams({ interaction: id })}`,
  }
}

/** Asks for the address. */
export async function askPage(
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: Pick<SelfServiceContext, 'settings'>,
  state: Pick<AskAddressView, 'problem' | 'retryAfter' | 'address'> = {},
): Promise<Reply> {
  const form = await formView('mailRequest', purpose, interaction)
  const hint = interaction.request.loginHint
  const address = state.address ?? (hint?.includes('@') === true ? hint : undefined)
  return services.settings.pages.askAddress({ ...form, ...state, address }, localeFor(interaction, services))
}

/** Shows that a mail is on its way, and asks for the code. */
export async function sentPage(
  purpose: Purpose,
  ticket: Pick<Ticket, 'address' | 'expiresAt'>,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
  state: Pick<MailSentView, 'problem' | 'retryAfter'> = {},
): Promise<Reply> {
  const form = await formView('mailProof', purpose, interaction)
  const view = {
    ...form,
    ...state,
    address: ticket.address,
    asksForCode: purpose.contains.code,
    minutes: minutesOf(ticket, interaction.kit),
    againUrl: urlOf('mailRequest', purpose, interaction),
  }
  return services.settings.pages.mailSent(view, localeFor(interaction, services))
}

export const minutesOf = ({ expiresAt }: Pick<Ticket, 'expiresAt'>, kit: EndpointKit): number =>
  Math.max(1, Math.ceil((expiresAt - kit.now()) / 60))

/** The page of a user who has opened the link, or entered the code. */
export async function provedPage(
  purpose: Purpose,
  ticket: Ticket,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
  state: Pick<MailProvedView, 'problem' | 'retryAfter' | 'username'> = {},
): Promise<Reply> {
  const { fields, ...form } = await formView('mailProof', purpose, interaction)
  const { minLength: least, maxLength: most } = services.settings.passwords
  const view = {
    ...form,
    ...state,
    fields: { ...fields, proof: await proofOf(ticket, interaction) },
    name: ticket.name ?? ticket.address,
    asksForName: purpose.asksForName,
    asksForPassword: purpose.asksForPassword,
    passwordLength: { least, most },
  }
  return services.settings.pages.mailProved(view, localeFor(interaction, services))
}

/** The page for a link that does not belong to this browser, or no longer counts. */
export async function elsewherePage(
  http: EndpointRequest,
  kit: EndpointKit,
  { settings: { pages } }: SelfServiceContext,
  purpose: Purpose | undefined,
): Promise<Reply> {
  const error = kit.refuse(
    'invalid_request',
    'The link belongs to another browser, or has expired',
    'mail_proof_unknown',
  )
  const { home } = await errorViewOf(error, http, kit)
  const locale = pages.localeOf(undefined, http.header('accept-language'))
  const hasCode = purpose?.contains.code ?? true
  const view = { home: parseUrl(home ?? '') === undefined ? undefined : home, hasCode }
  return { ...pages.mailElsewhere(view, locale), error }
}
