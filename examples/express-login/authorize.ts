import type { Provider, Subject } from '@grantry/core'
import { authorizationRequests, type CheckedRequest } from '@grantry/plugins/authorization-endpoint'

/** A user who is signed in, since `authTime` (epoch seconds). */
export type SignedIn = Subject & { readonly authTime: number }

const isFresh = ({ prompts, maxAge, startedAt, hintedSub }: CheckedRequest, { sub, authTime }: SignedIn): boolean =>
  (!prompts.has('login') || authTime >= startedAt) &&
  (maxAge === undefined || authTime >= startedAt - maxAge) &&
  (hintedSub === undefined || hintedSub === sub)

/** Sends the code to the client, or shows the login form for the query of the request. */
export async function authorize(
  provider: Provider,
  request: Request,
  user: SignedIn | undefined,
  loginForm: (query: string) => Response,
): Promise<Response> {
  const requests = provider.use(authorizationRequests)
  const checked = await requests.parse(request)
  if ('response' in checked) return checked.response
  if (user !== undefined && isFresh(checked, user)) {
    return requests.respond(checked, { subject: user, scopes: checked.scopes, trusted: true })
  }
  if (checked.prompts.has('none')) return requests.respond(checked, { refuse: 'login_required' })
  return loginForm(checked.query)
}
