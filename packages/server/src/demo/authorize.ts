import {
  type Handler,
  isOAuthError,
  OAuthError,
  type Provider,
  type RequestParameters,
  readParameters,
} from '@grantry/core'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const bodyLimit = 65_536

const refusal = (code: string, description: string, status = 400): Response =>
  Response.json({ error: code, error_description: description }, { status, headers })

/** Rejects parameters that would change the meaning of the response and that the demo does not support. */
function assertSupported({ response_type, response_mode, prompt, request, request_uri }: RequestParameters): void {
  const refuse = (code: 'invalid_request' | 'login_required', text: string): OAuthError =>
    new OAuthError(code, text, { reason: 'plugin:demo:request_unsupported' })
  if ((response_type ?? 'code') !== 'code') throw refuse('invalid_request', 'The response_type must be code')
  if (response_mode !== undefined) throw refuse('invalid_request', 'The response_mode is not supported')
  if (request !== undefined || request_uri !== undefined) {
    throw refuse('invalid_request', 'Request objects are not supported')
  }
  if (prompt?.split(' ').includes('none')) throw refuse('login_required', 'The user must sign in')
}

/**
 * Handles `POST /demo/authorize`, which stands in for the login page of a host. It takes the authorization request of
 * the client, the user name and the password, and returns the code in the body instead of a redirect, so that one curl
 * command is enough.
 */
export function demoAuthorize(provider: Provider): Handler {
  return async (request, connection) => {
    if (request.method !== 'POST') return refusal('invalid_request', 'Send a POST', 405)
    try {
      const form = await readParameters(request, bodyLimit)
      const { username = '', password = '', client_id: clientId = '', redirect_uri: redirectUri = '', nonce } = form
      const code = {
        clientId,
        redirectUri,
        scopes: (form.scope ?? '').split(' ').filter((scope) => scope !== ''),
        ...(nonce !== undefined && { nonce }),
        ...(form.code_challenge !== undefined && { codeChallenge: form.code_challenge }),
        ...(form.code_challenge_method !== undefined && { codeChallengeMethod: form.code_challenge_method as 'S256' }),
      }
      await provider.checkAuthorizationRequest(code)
      assertSupported(form)
      const subject = await provider.authenticateUser({ username, password }, { ...connection, clientId })
      if (subject === undefined) return refusal('access_denied', 'Wrong user name or password')
      return Response.json({ code: await provider.createAuthorizationCode({ ...code, subject }) }, { headers })
    } catch (error) {
      if (!isOAuthError(error)) return refusal('server_error', 'The request failed', 500)
      return refusal(error.code, error.message, error.details.status)
    }
  }
}
