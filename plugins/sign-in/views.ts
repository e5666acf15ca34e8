import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import {
  choosableScopes,
  errorViewOf,
  formTargets,
  type Interaction,
  requestedClaims,
  restartUrlOf,
  type SuspendedInteraction,
  unknownReason,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { clientView } from '../shared/client-members.ts'
import { describedClient } from '../shared/described-client.ts'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import { passkeyDomain } from '../shared/passkey-domain.ts'
import { scopeFieldOf } from '../shared/scope-choice.ts'
import { challengeOf, formTokenFor, type Step } from './form-token.ts'
import type { ConsentView, FormView, SecondFactorView, SignInPages, SignInView } from './sign-in-pages.ts'
import { asksForAddress, linksFor, type OfferedWays } from './ways.ts'

/** The names of the endpoints that the forms are sent to. */
export const endpointOf = {
  sign_in: 'signIn',
  second_factor: 'secondFactor',
  consent: 'consent',
  choose_account: 'accountChoice',
} as const satisfies Readonly<Record<Step, string>>

/** An interaction whose request is stored, with its id. */
export type Shown = Pick<SuspendedInteraction, keyof Interaction | 'id' | 'browser' | 'expiresAt'>

async function formView(interaction: Shown, step: Step): Promise<FormView> {
  const { id, request, kit, restart } = interaction
  return {
    // The URL contains the id, so that a user can load the address again that the browser shows after the form.
    action: `${kit.endpointUrl(endpointOf[step])}?${new URLSearchParams({ interaction: id })}`,
    fields: { interaction: id, form_token: await formTokenFor(interaction, step), request: restart },
    client: clientView(request.client),
    formTargets,
    opensApplication: !/^https?:/iu.test(request.redirectUri),
  }
}

const localeFor = ({ request, http }: Shown, pages: SignInPages): string =>
  pages.localeOf(request.uiLocales, http.header('accept-language'))

/** The state of the sign-in page besides the form. */
export interface SignInState
  extends Pick<SignInView, 'problem' | 'provider' | 'retryAfter' | 'username' | 'staySignedIn'> {
  /** The id of a passkey that the user has chosen, and that is no longer stored. */
  readonly unknownPasskey?: string | undefined
}

/** The services that the sign-in page uses. */
export interface SignInPageServices extends OfferedWays {
  readonly pages: SignInPages
  readonly passkeys?: PasskeyCheck | undefined
}

/**
 * The name of a signed-in user who must authenticate again. Absent for a user of a provider, whose name is for display
 * only: password managers would find no password for it.
 */
const earlierName = ({ request: { maxAge, prompts }, session }: Shown): string | undefined =>
  maxAge !== undefined && prompts.size === 0 && isLocal(session?.subject.idp) ? session?.name : undefined

const isLocal = (idp: string | undefined): boolean => idp === undefined || idp === 'local'

export async function signInPage(
  interaction: Shown,
  { pages, passkeys, ...offered }: SignInPageServices,
  { staySignedIn = false, unknownPasskey: unknown, ...state }: SignInState = {},
): Promise<Reply> {
  const { loginHint = earlierName(interaction) } = interaction.request
  const form = await formView(interaction, 'sign_in')
  const { kit, sessions } = interaction
  const challenge = challengeOf(form.fields.form_token ?? '', kit)
  const rpId = passkeys && passkeyDomain(passkeys.rpId, kit.issuer)
  const passkey = rpId === undefined ? undefined : { challenge, rpId, unknown }
  const asked = sessions.asksToStay ? { staySignedIn } : {}
  const ways = { ways: linksFor(interaction, offered), asksForPassword: offered.passwords }
  const asksForOrganization = asksForAddress(interaction, offered)
  const shown = { ...ways, ...(asksForOrganization && { asksForOrganization }), ...asked }
  const view = { ...form, username: loginHint, canCancel: true, passkey, ...shown, ...state }
  return pages.signIn(view, localeFor(interaction, pages))
}

/** @param request the query that begins the request again, from the form; `undefined` if it is not known */
export async function expiredPage(
  request: string | undefined,
  http: EndpointRequest,
  kit: EndpointKit,
  { pages }: Pick<SignInPageServices, 'pages'>,
): Promise<Reply> {
  const text = 'The request has expired, or was already answered'
  const error = kit.refuse('invalid_request', text, unknownReason(http))
  const restart = request === undefined ? undefined : restartUrlOf(kit, request)
  const view = await errorViewOf(error, http, kit, { restart })
  return { ...pages.error(view, pages.localeOf(undefined, http.header('accept-language'))), error }
}

export async function secondFactorPage(
  interaction: Shown,
  { subjectName, passed }: { readonly subjectName: string; readonly passed: string },
  pages: SignInPages,
  state: Pick<SecondFactorView, 'problem' | 'retryAfter'> = {},
): Promise<Reply> {
  const { fields, ...form } = await formView(interaction, 'second_factor')
  const view = { ...form, fields: { ...fields, passed }, subjectName, ...state }
  return pages.secondFactor(view, localeFor(interaction, pages))
}

/** The form that the user has sent, if the page is shown again. */
interface ConsentState {
  readonly problem: ConsentView['problem']
  readonly isTicked: (scope: string) => boolean
}

async function scopesOf({ request, recallDeclined }: Shown, state: ConsentState | undefined) {
  const choosable = choosableScopes(request)
  const declined = choosable.length === 0 || state !== undefined ? [] : await recallDeclined()
  const isTicked = state?.isTicked ?? ((name: string) => !declined.includes(name))
  return request.scopes.map((name) => ({
    name,
    ...(choosable.includes(name) && { choice: { field: scopeFieldOf(name), isTicked: isTicked(name) } }),
  }))
}

export async function consentPage(interaction: Shown, pages: SignInPages, state?: ConsentState): Promise<Reply> {
  const { request, session } = interaction
  const [form, scopes] = await Promise.all([formView(interaction, 'consent'), scopesOf(interaction, state)])
  const view = {
    ...form,
    subjectName: session?.name ?? session?.subject.sub ?? '',
    scopes,
    resources: request.proposal.resources,
    claims: requestedClaims(request),
    described: describedClient(request.client, request.redirectUri),
    problem: state?.problem,
  }
  return pages.consent(view, localeFor(interaction, pages))
}

export async function accountPage(
  interaction: Shown,
  account: { readonly id: string; readonly name: string },
  pages: SignInPages,
): Promise<Reply> {
  const view = { ...(await formView(interaction, 'choose_account')), accounts: [account] }
  return pages.chooseAccount(view, localeFor(interaction, pages))
}
