import {
  defineEndpoint,
  type EndpointKit,
  foldedAddress,
  isOAuthError,
  type PluginPart,
  type Reply,
  typedName,
} from '@grantry/core'
import * as v from 'valibot'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { addressIn, mailboxOf } from '../shared/mail-address.ts'
import { countAddress, countNetwork, countSent, isKnownPlace } from '../shared/mail-limits.ts'
import { isMailedCode, isMailedSpent, spendMailed } from '../shared/mailed-code.ts'
import { countMailedCode } from '../shared/mailed-code-limits.ts'
import { type Addressed, contextOf, type Purpose, postMail, type SelfServiceContext } from './flow.ts'
import { countEntry, createTicket, findTicket, isLinkOf, type Ticket } from './ticket.ts'
import { askPage, elsewherePage, isProved, minutesOf, permits, provedPage, sentPage, urlOf } from './views.ts'

const text = v.optional(v.string(), '')
const params = v.object({
  interaction: text,
  for: text,
  form_token: text,
  address: text,
  token: text,
  code: text,
  proof: text,
  username: text,
  password: text,
})
type Fields = v.InferOutput<typeof params>

/** Returns the same response for every address: only the reader of its mails learns whether there is an account. */
async function requestMail(
  { address: entered }: Fields,
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
): Promise<Reply> {
  const { kit, http } = interaction
  const address = addressIn(entered)
  if (address === undefined) {
    return askPage(purpose, interaction, services, { problem: 'address_malformed', address: entered })
  }
  // The domain belongs to a provider, which can end the accounts of its users: a mail must not replace the sign-in
  // there.
  const way = services.tools.byAddress(address, interaction)
  if (way !== undefined) return { location: way.url }
  const { limits } = services.settings
  let addressed: Addressed
  try {
    const { clientAddress } = http
    await countNetwork(clientAddress, limits, kit)
    addressed = await purpose.lookUp(address, services, kit)
    const isKnown = await isKnownPlace(addressed.account?.sub, clientAddress, kit)
    await countAddress(mailboxOf(address), { clientAddress, isKnown }, limits, kit)
    const kind = purpose.name === 'sign_up' ? 'sign_up' : isKnown ? 'known' : 'elsewhere'
    const whose = foldedAddress(address)
    await countSent({ isSent: addressed.mail !== undefined, kind, whose }, limits, kit)
  } catch (error) {
    if (!isOAuthError(error) || error.code !== 'slow_down') throw error
    const state = { problem: 'too_many_attempts', retryAfter: error.details.retryAfter, address } as const
    return { ...(await askPage(purpose, interaction, services, state)), error }
  }
  const { account, counts, mail } = addressed
  const { ticket, link, code } = await createTicket(purpose.name, { address, account, counts }, interaction)
  // The request lasts as long as the mail is valid, even if the user asked for the mail late.
  const waiting = await services.tools.interactions.extend(interaction, ticket.expiresAt)
  const page = await sentPage(purpose, ticket, waiting, services)
  kit.recordUser({ type: 'mail_requested', purpose: purpose.name }, contextOf(interaction, account?.sub))
  const { contains } = purpose
  const view =
    mail?.kind === 'account_exists'
      ? { kind: mail.kind }
      : {
          kind: purpose.name,
          minutes: minutesOf(ticket, kit),
          ...(contains.link && { url: urlOf('mailProof', purpose, interaction, { token: link }) }),
          ...(contains.code && { code }),
        }
  postMail(view, mail?.to, interaction, services)
  return page
}

const failed = (reason: string, purpose: Purpose, ticket: Ticket, interaction: SuspendedInteraction): void =>
  interaction.kit.recordUser(
    { type: 'mail_proof_failed', purpose: purpose.name, reason },
    contextOf(interaction, ticket.sub),
  )

/** Checks the code of a mail. It spends only the code's own tries. */
async function enterCode(
  code: string,
  ticket: Ticket,
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
): Promise<Reply> {
  const { kit, http } = interaction
  try {
    const named = { name: foldedAddress(ticket.address), sub: ticket.sub }
    const counted = await countMailedCode(named, http.clientAddress, services.settings.limits, kit)
    if (!(await isMailedCode(ticket, code, kit))) {
      failed('wrong_code', purpose, ticket, interaction)
      return sentPage(purpose, ticket, interaction, services, { problem: 'wrong_code' })
    }
    await counted.succeed()
  } catch (error) {
    if (!isOAuthError(error) || error.code !== 'slow_down') throw error
    failed(error.details.reason, purpose, ticket, interaction)
    const { retryAfter } = error.details
    const page = await sentPage(purpose, ticket, interaction, services, { problem: 'too_many_attempts', retryAfter })
    return { ...page, error }
  }
  return provedPage(purpose, ticket, interaction, services)
}

/** Uses the proof, after what the user has entered was checked. */
async function finish(
  fields: Fields,
  ticket: Ticket,
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
): Promise<Reply> {
  const { kit, http } = interaction
  const entered = { username: typedName(fields.username), password: fields.password }
  const isCounted = await countEntry(ticket, kit)
  const problem = isCounted ? await purpose.problem(entered, ticket, services, kit) : 'too_many_attempts'
  if (problem !== undefined) {
    return provedPage(purpose, ticket, interaction, services, { problem, username: entered.username })
  }
  if (!(await spendMailed(ticket, kit))) {
    failed('proof_used', purpose, ticket, interaction)
    return elsewherePage(http, kit, services, purpose)
  }
  return (await purpose.finish(entered, ticket, interaction, services)) ?? elsewherePage(http, kit, services, purpose)
}

async function prove(
  fields: Fields,
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
): Promise<Reply> {
  const { kit, http } = interaction
  const ticket = await findTicket(purpose.name, interaction)
  if (ticket === undefined || (await isMailedSpent(ticket, kit))) return elsewherePage(http, kit, services, purpose)
  if (http.method !== 'POST') {
    if (fields.token === '') return sentPage(purpose, ticket, interaction, services)
    if (purpose.contains.link && isLinkOf(ticket, fields.token, kit)) {
      return provedPage(purpose, ticket, interaction, services)
    }
    return elsewherePage(http, kit, services, purpose)
  }
  if (!(await permits(fields.form_token, purpose, interaction))) {
    return sentPage(purpose, ticket, interaction, services, { problem: 'form_expired' })
  }
  if (await isProved(fields.proof, ticket, interaction)) return finish(fields, ticket, purpose, interaction, services)
  if (!purpose.contains.code) return sentPage(purpose, ticket, interaction, services)
  return enterCode(fields.code, ticket, purpose, interaction, services)
}

async function ask(
  fields: Fields,
  purpose: Purpose,
  interaction: SuspendedInteraction,
  services: SelfServiceContext,
): Promise<Reply> {
  if (interaction.http.method !== 'POST') return askPage(purpose, interaction, services)
  if (await permits(fields.form_token, purpose, interaction)) return requestMail(fields, purpose, interaction, services)
  return askPage(purpose, interaction, services, { problem: 'form_expired', address: fields.address })
}

/** The endpoints of the pages. */
export const endpointsOf = (services: SelfServiceContext, purposes: readonly Purpose[]): readonly PluginPart[] => {
  const { tools } = services
  const endpoint = (
    name: 'mailRequest' | 'mailProof',
    path: `/${string}`,
    handle: typeof ask,
    unknown: (http: SuspendedInteraction['http'], kit: EndpointKit, purpose: Purpose | undefined) => Promise<Reply>,
  ) =>
    defineEndpoint({
      name,
      path,
      methods: ['GET', 'POST'],
      caller: 'anyone',
      params,
      async handle({ params: fields, request }, kit) {
        const purpose = purposes.find((candidate) => candidate.name === fields.for)
        const isKnown = purpose !== undefined || fields.for === ''
        const interaction = isKnown ? await tools.interactions.find(kit, request, fields.interaction) : undefined
        if (interaction === undefined) return unknown(request, kit, purpose)
        // Back to the page of the sign-in.
        if (purpose === undefined) return tools.show(interaction)
        return handle(fields, purpose, interaction, services)
      },
      presentError: tools.presentError,
    })
  return [
    endpoint('mailRequest', '/connect/mail', ask, tools.expired),
    endpoint('mailProof', '/connect/mailed', prove, (http, kit, purpose) =>
      elsewherePage(http, kit, services, purpose),
    ),
  ]
}
