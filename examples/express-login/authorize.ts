import type { Provider, Subject } from '@grantry/core'
import { authorizationRequests } from '@grantry/plugins/authorization-endpoint'

/** A user who is signed in, since `authTime` (epoch seconds). */
export type SignedIn = Subject & { readonly authTime: number }

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
  const unmet = requests.unmetBy(checked, user)
  if (user === undefined || unmet !== undefined) {
    return unmet?.canSignIn === false ? (await requests.respond(checked, unmet)).response : loginForm(checked.query)
  }
  return (await requests.respond(checked, { subject: user, scopes: checked.scopes, trusted: true })).response
}
