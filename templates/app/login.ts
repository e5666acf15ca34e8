import {
  type ConnectionInfo,
  escapeHtml,
  htmlHeaders,
  isOAuthError,
  type Provider,
  readParameters,
} from '@grantry/core'
import { authorizationRequests, type CheckedRequest, formTargets } from '@grantry/plugins/authorization-endpoint'

// The login page. It has no session: each sign-in asks for the password.

/** Returns the login page, at `/login`: GET with the request of a client in the query, POST with the form. */
export function createLogin(provider: Provider) {
  /** Shows the form, with the request of the client in hidden fields. */
  function form(request: CheckedRequest, problem = '', status = 200): Response {
    const hidden = Object.entries(request.params).map(
      ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
    )
    const fields = `<label>Name <input name="username" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>`
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in</title><h1>Sign in</h1><p role="alert">${escapeHtml(problem)}</p>
<form method="post" action="/login">${hidden.join('')}${fields} <button>Sign in</button></form></html>`
    return new Response(html, { status, headers: htmlHeaders({ form: formTargets }, provider.issuer) })
  }

  return async (request: Request, connection: ConnectionInfo = {}): Promise<Response> => {
    const requests = provider.use(authorizationRequests)
    const copy = request.clone()
    const checked = await requests.parse(request)
    if ('response' in checked) return checked.response
    if (checked.prompts.has('none')) return (await requests.respond(checked, { refuse: 'login_required' })).response
    if (request.method !== 'POST') return form(checked)
    const { username, password = '' } = await readParameters(copy, 65_536)
    if (username === undefined) return form(checked)
    const { client, scopes } = checked
    try {
      const subject = await provider.authenticateUser(
        { username, password },
        { ...connection, clientId: client.clientId },
      )
      if (subject === undefined) return form(checked, 'Wrong name or password', 403)
      // All clients are your own. For others, show what they ask for, and pass `consented`.
      return (await requests.respond(checked, { subject, scopes, trusted: true })).response
    } catch (error) {
      if (!isOAuthError(error) || error.code !== 'slow_down') throw error
      return form(checked, 'Too many attempts. Try again later.', 429)
    }
  }
}
