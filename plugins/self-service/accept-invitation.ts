import {
  defineEndpoint,
  defineHostFunctions,
  type EndpointKit,
  type EndpointRequest,
  type PluginPart,
  parseUrl,
  type Reply,
  typedName,
} from '@grantry/core'
import * as v from 'valibot'
import { errorViewOf, formTargets } from '../authorization-endpoint/authorization-endpoint.ts'
import { rememberOwner } from '../shared/remember-owner.ts'
import { callStore, type Entered, type SelfServiceContext } from './flow.ts'
import {
  createInvitations,
  findByToken,
  forgetInvitation,
  hasAccount,
  type Invitation,
  invitations,
  reopenInvitation,
  spendInvitation,
} from './invitations.ts'
import { signUp } from './purposes.ts'
import type { InvitationState, InvitedView } from './self-service-pages.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    invitation: true
  }
}

const text = v.optional(v.string(), '')
const params = v.object({ token: text, username: text, password: text })

/** Names and passwords that can be tried with an invitation in an hour. */
const maxEntries = 20
const window = 3600

/** A request with a link of an invitation. It needs no interaction: the browser of the user has begun none. */
interface Visit {
  readonly http: EndpointRequest
  readonly kit: EndpointKit
  readonly services: SelfServiceContext
  readonly token: string
}

const localeIn = ({ http, services }: Visit): string =>
  services.settings.pages.localeOf(undefined, http.header('accept-language'))

/** The page without a form. All of them have a way on. */
async function statePage(state: InvitationState, visit: Visit): Promise<Reply> {
  const { http, kit, services } = visit
  const { pages } = services.settings
  const accountUrl = kit.endpointUrl('account')
  // Not the account page itself: in this browser, another user can be signed in.
  const signInUrl = accountUrl && `${accountUrl}/sign-in`
  if (state === 'ready') return pages.invitationState({ state, signInUrl }, localeIn(visit))
  const isKnown = state === 'account_exists'
  const [says, reason] = isKnown
    ? ['The address has an account', 'invitation_account_exists']
    : ['The invitation was used or withdrawn, or has expired', 'invitation_unknown']
  const error = kit.refuse('invalid_request', says, reason)
  const { home } = await errorViewOf(error, http, kit)
  const view = { state, signInUrl, home: parseUrl(home ?? '') === undefined ? undefined : home }
  return { ...pages.invitationState(view, localeIn(visit)), error }
}

function formPage(
  { email }: Invitation,
  visit: Visit,
  state: Pick<InvitedView, 'problem' | 'retryAfter' | 'username'> = {},
): Reply {
  const { settings } = visit.services
  const { minLength: least, maxLength: most } = settings.passwords
  const view = {
    ...state,
    action: visit.kit.endpointUrl('invitation') ?? '',
    fields: { token: visit.token },
    formTargets,
    name: email,
    asksForName: settings.names === 'username',
    passwordLength: { least, most },
  }
  return settings.pages.invited(view, localeIn(visit))
}

/** Creates the account. A name that is taken leaves the invitation. */
async function create({ username, password }: Entered, invitation: Invitation, { kit, services }: Visit) {
  const { email, claims } = invitation
  const name = services.settings.names === 'username' ? username : email
  let account: Awaited<ReturnType<typeof services.settings.store.create>>
  try {
    account = await callStore('create', kit, services, (store) =>
      store.create({ username: name, email, emailVerified: true, password, claims }),
    )
  } catch (error) {
    await reopenInvitation(invitation, kit)
    throw error
  }
  if (account !== 'taken') return account
  if (await hasAccount(email, services, kit)) return 'account_exists'
  await reopenInvitation(invitation, kit)
  return 'name_taken'
}

async function accept(entered: Entered, invitation: Invitation, visit: Visit): Promise<Reply> {
  const { kit, http, services } = visit
  const current = Math.floor(kit.now() / window)
  const end = (current + 1) * window
  const retry = (state: Pick<InvitedView, 'problem' | 'retryAfter'>): Reply =>
    formPage(invitation, visit, { ...state, username: entered.username })
  if ((await kit.records.increment(`invitation entries:${invitation.id}:${current}`, end + 60)) > maxEntries) {
    return retry({ problem: 'too_many_attempts', retryAfter: end - kit.now() })
  }
  const { names } = services.settings
  const problem = await signUp(names).problem(entered, { address: invitation.email }, services, kit)
  if (problem !== undefined) return retry({ problem })
  if (!(await spendInvitation(invitation, kit))) return statePage('ended', visit)
  const account = await create(entered, invitation, visit)
  if (account === 'account_exists') return statePage('account_exists', visit)
  if (account === 'name_taken') return retry({ problem: 'name_taken' })
  await forgetInvitation(invitation.id, kit)
  await rememberOwner(account, entered.password, kit, { clientAddress: http.clientAddress })
  kit.recordUser({ type: 'account_created', by: 'invitation' }, { sub: account.sub, clientAddress: http.clientAddress })
  // No session begins: a form of another site could otherwise sign a visitor in to the account of a stranger.
  return statePage('ready', visit)
}

/** What invitations add: the functions of the host, and the page of the mailed link. */
export const invitationParts = (services: SelfServiceContext): readonly PluginPart[] => [
  defineHostFunctions(invitations, (kit) => createInvitations(services, kit)),
  defineEndpoint({
    name: 'invitation',
    path: '/connect/invitation',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params,
    async handle({ params: { token, username, password }, request: http }, kit) {
      const visit = { http, kit, services, token }
      const invitation = await findByToken(token, kit)
      // The domain of the address may belong to a provider since.
      const isEnded = invitation === undefined || services.tools.isElsewhere(invitation.email)
      if (isEnded) return statePage('ended', visit)
      if (await hasAccount(invitation.email, services, kit)) return statePage('account_exists', visit)
      if (http.method !== 'POST') return formPage(invitation, visit)
      return accept({ username: typedName(username), password }, invitation, visit)
    },
    presentError: services.tools.presentError,
  }),
]
