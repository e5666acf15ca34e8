import type { EndpointKit, EndpointRequest, OAuthError, Reply } from '@grantry/core'
import * as v from 'valibot'
import {
  judgeFlow,
  type PageClient,
  type Session,
  type Sessions,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountPages } from './account-pages.ts'

/** The path of the page, relative to the issuer. */
export const accountPath = '/account'

/** The path below it that asks for a sign-in, also while a user is signed in. */
export const signInPath = 'sign-in'

/** The client that the page signs its users in as. A URN: no client of the host has this id. */
export const accountClientId = 'urn:grantry:account-page'

/** A request of a user who is signed in. */
export interface Visit {
  readonly session: Session
  /** The path below that of the page, such as `sessions/end-others`. */
  readonly path: string
  readonly request: EndpointRequest
  readonly kit: EndpointKit
  readonly locale: string
}

export const urlOf = ({ issuer }: Pick<EndpointKit, 'issuer'>, path = ''): string =>
  `${issuer}${accountPath}${path === '' ? '' : `/${path}`}`

/** The name of the service, which users see in their devices: with the path, in which the tenants of one host differ. */
export const serviceOf = ({ issuer }: Pick<EndpointKit, 'issuer'>): string => issuer.replace(/^https?:\/\//u, '')

/** The name of the user on a device, which does not show the path or port in which issuers of one host differ. */
export function shownName(name: string, kit: Pick<EndpointKit, 'issuer'>): string {
  const { pathname, port } = new URL(kit.issuer)
  return pathname === '/' && port === '' ? name : `${name} (${serviceOf(kit)})`
}

export const nameIn = ({ name, subject }: Session): string => name ?? subject.sub

/** Finds the session of the browser. A user who was deactivated since the sign-in has none. */
export async function sessionFor(request: EndpointRequest, kit: EndpointKit, sessions: Sessions) {
  const session = await sessions.find(kit, request)
  return session !== undefined && (await kit.isUserActive(session.subject.sub)) ? session : undefined
}

/**
 * Whether the session still counts, and its user is active. Read again before a change that took its time: a user who was
 * revoked or deactivated meanwhile, such as because of a thief, changes nothing.
 */
export async function mayStillChange({ session, request, kit }: Visit, { sessions }: { readonly sessions: Sessions }) {
  // The age of the authentication was judged when the request arrived.
  const flow = { sid: session.sid, maxAge: Number.POSITIVE_INFINITY }
  return (await judgeFlow(flow, sessions, request, kit)) !== 'ended'
}

/** A path of the page that the sign-in returns to. Each page checks its own segments. */
const pathForm = /^[\w/-]{1,200}$/u
export const returnPath = (state: string | undefined): string =>
  state !== undefined && pathForm.test(state) ? state : ''

/** Returns a redirect to the sign-in, which returns to the path. */
export const toSignIn = (
  { signInAt }: PageClient,
  kit: EndpointKit,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Reply => signInAt(kit, { ...more, ...(path !== '' && { state: path }) })

/** The page for a browser in which no user is signed in. */
export function signedOutPage(
  path: string,
  { request, kit, pages }: Pick<Visit, 'request' | 'kit'> & { readonly pages: AccountPages },
): Reply {
  const error: OAuthError = kit.refuse('login_required', 'The user is not signed in', 'signed_out')
  const locale = pages.localeOf(undefined, request.header('accept-language'))
  const hasCookies = (request.header('cookie') ?? '') !== ''
  return { ...pages.signedOut({ again: urlOf(kit, path), hasCookies }, locale), error }
}

const formSchema = v.object({ accountForm: v.string(), sub: v.string(), sid: v.string(), begun: v.number() })

/** Seconds for which a form is valid. */
export const formLifetime = 1800

/**
 * Returns a token that permits one form of one session.
 *
 * @param more what the form shows, such as the id of what it removes: a form cannot be sent for another one
 */
export const formTokenFor = ({ session, path, kit }: Visit, more = ''): Promise<string> => {
  const { sid, subject, startedAt } = session
  const value = { accountForm: `${path} ${more}`, sub: subject.sub, sid, begun: startedAt }
  return kit.seal(value, kit.now() + formLifetime)
}

/** Whether a form belongs to this path and session. `false` after another sign-in in the session. */
export async function permits({ session, path, kit }: Visit, token: string, more = ''): Promise<boolean> {
  const form = await kit.unseal(token, formSchema)
  const { sid, subject, startedAt } = session
  return (
    form !== undefined &&
    form.accountForm === `${path} ${more}` &&
    form.sub === subject.sub &&
    form.sid === sid &&
    form.begun === startedAt
  )
}

/** Returns the members that each form for a change has. */
export const formOf = async (visit: Visit) => ({
  subjectName: nameIn(visit.session),
  form: { action: urlOf(visit.kit, visit.path), fields: { form_token: await formTokenFor(visit) } },
  back: urlOf(visit.kit),
})
