import { type Handler, isOAuthError, OAuthError, type Provider, readParameters, type UserService } from '@grantry/core'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const bodyLimit = 65_536

const refusal = (code: string, description: string, status = 400): Response =>
  Response.json({ error: code, error_description: description }, { status, headers })

/**
 * `POST /demo/authorize`: stands in for the login page that a host has. It takes what such a page knows (the request of the client, the user's name and
 * password) and answers with the code in the body instead of a redirect, so that one curl is enough.
 */
export function demoAuthorize(provider: Provider, users: UserService): Handler {
  async function createCode(request: Request): Promise<string> {
    const form = await readParameters(request, bodyLimit)
    const { username = '', password = '', client_id = '', redirect_uri = '', scope = '', nonce } = form
    const user = await users.authenticate?.({ username, password }, undefined as never)
    if (user === undefined)
      throw new OAuthError('access_denied', 'Wrong user name or password', { reason: 'plugin:demo:wrong_credentials' })
    return provider.createAuthorizationCode({
      clientId: client_id,
      redirectUri: redirect_uri,
      scopes: scope.split(' '),
      subject: { ...user, amr: ['pwd'] },
      ...(nonce !== undefined && { nonce }),
      ...(form.code_challenge !== undefined && { codeChallenge: form.code_challenge }),
      ...(form.code_challenge_method !== undefined && { codeChallengeMethod: form.code_challenge_method as 'S256' }),
    })
  }

  return async (request) => {
    if (request.method !== 'POST') return refusal('invalid_request', 'Send a POST', 405)
    try {
      return Response.json({ code: await createCode(request) }, { headers })
    } catch (error) {
      if (isOAuthError(error)) return refusal(error.code, error.message, error.details.status)
      return refusal('server_error', 'The request failed', 500)
    }
  }
}
