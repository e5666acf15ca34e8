import { type Provider, readParameters, type Subject } from '@grantry/core'
import {
  type AuthorizationRequests,
  authorizationRequests,
  userConsents,
} from '@grantry/plugins/authorization-endpoint'

/** A user who is signed in at the site, since `authTime` (epoch seconds). */
export type UserOfSite = Subject & { readonly authTime: number }

/** How `authorizeRoute()` finds the user and the pages of the site. */
export type AuthorizeRouteOptions = {
  /** Returns the user of the site's own session, such as that of a cookie. */
  readonly userOf: (request: Request) => UserOfSite | undefined | Promise<UserOfSite | undefined>
  /**
   * The path of the login page. It gets the query of the authorization request. After the sign-in, it redirects to the route with
   * this query.
   */
  readonly loginPath: string
} & (
  | {
      /**
       * The path of a page that asks for consent, with the same query. Its form sends all of the query to the route by POST, and
       * `user` (the `sub` that the page is for) and `decision` (`allow` or `deny`).
       */
      readonly consentPath: string
    }
  | {
      /** No user is asked: all clients are applications of your own. */
      readonly trusted: true
    }
)

/** The exports of the route file. */
export type AuthorizeRoute = Readonly<Record<'GET' | 'POST', (request: Request) => Promise<Response>>>

/** `consentPath` is absent when all clients are trusted. */
interface Settings extends Pick<AuthorizeRouteOptions, 'userOf' | 'loginPath'> {
  readonly consentPath: string | undefined
}

/** Bytes of a form; as `parse()` of `authorizationRequests`. */
const maxLength = 65_536

/**
 * Clients send requests by POST, too. A decision is accepted only from a page of the site: another site could otherwise
 * allow itself.
 */
const isOfSite = ({ headers }: Request, issuer: string): boolean =>
  headers.get('sec-fetch-site') === 'same-origin' || headers.get('origin') === new URL(issuer).origin

/** Returns the decision of the user of the form. `undefined` without a form of the site. */
async function decisionOf(form: Request | undefined, { sub }: Subject): Promise<string | undefined> {
  if (form === undefined) return undefined
  const { decision, user } = await readParameters(form, maxLength)
  return user === sub ? decision : undefined
}

/**
 * Next.js replaces the host in the URL of a request, so pages are relative to the issuer. A stranger could have put a decision into
 * the query, which the form of the page would send.
 */
function pageOf(path: string, query: string, issuer: string): Response {
  const page = new URL(`${path}${query}`, issuer)
  for (const name of ['decision', 'user']) page.searchParams.delete(name)
  const location = page.href
  return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } })
}

async function respond(
  request: Request,
  provider: Provider,
  { userOf, loginPath, consentPath }: Settings,
): Promise<Response> {
  const requests = provider.use(authorizationRequests)
  // Only the form of the page for consent is read twice.
  const hasForm = consentPath !== undefined && request.method === 'POST' && isOfSite(request, provider.issuer)
  const form = hasForm ? request.clone() : undefined
  const checked = await requests.parse(request)
  if ('response' in checked) return checked.response
  const { scopes, query } = checked
  const answer = async (result: Parameters<AuthorizationRequests['respond']>[1]): Promise<Response> =>
    (await requests.respond(checked, result)).response
  const user = await userOf(request)
  const unmet = requests.unmetBy(checked, user)
  if (user === undefined || unmet !== undefined) {
    return unmet?.canSignIn === false ? answer(unmet) : pageOf(loginPath, query, provider.issuer)
  }
  if (consentPath === undefined) return answer({ subject: user, scopes, trusted: true })
  const decision = await decisionOf(form, user)
  if (decision === 'deny') return answer({ refuse: 'access_denied' })
  if (decision === 'allow') return answer({ subject: user, scopes, consented: true, remember: true })
  if (await provider.use(userConsents).suffice(checked, user.sub))
    return answer({ subject: user, scopes, consented: true })
  if (checked.prompts.has('none')) return answer({ refuse: 'consent_required' })
  return pageOf(consentPath, query, provider.issuer)
}

function pathOf(name: string, path: unknown): string {
  if (typeof path === 'string' && /^\/(?!\/)[^?#\\\p{Cc}]*$/u.test(path)) return path
  throw new TypeError(`authorizeRoute(): ${name} must be a path of the site, such as /login`)
}

function settingsOf(options: AuthorizeRouteOptions): Settings {
  const isTrusted = !('consentPath' in options) && options.trusted === true
  const loginPath = pathOf('loginPath', options.loginPath)
  const consentPath = isTrusted ? undefined : pathOf('consentPath', 'consentPath' in options && options.consentPath)
  return { userOf: options.userOf, loginPath, consentPath }
}

/**
 * The authorization endpoint of a site with a login of its own, for a provider with the plugin `loginPage()`. Name the route in
 * `authorizationEndpoint` of the provider.
 *
 * @throws TypeError when a path is not one of this site.
 * @example
 * // app/id/authorize/route.ts
 * export const { GET, POST } = authorizeRoute(grantry, { userOf, loginPath: '/login', consentPath: '/consent' })
 */
export function authorizeRoute(
  handlers: { provider(): Promise<Provider> },
  options: AuthorizeRouteOptions,
): AuthorizeRoute {
  const settings = settingsOf(options)
  const handle = async (request: Request): Promise<Response> => respond(request, await handlers.provider(), settings)
  return { GET: handle, POST: handle }
}
