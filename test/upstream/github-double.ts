import { json } from './openid-double.ts'

/** What GitHub returns: a code for a token, the user, and the addresses of the user. */
export function createGithubDouble() {
  const state = {
    user: {
      id: 583231,
      login: 'octocat',
      name: 'Octo Cat',
      avatar_url: 'https://avatars.example.com/1',
      email: 'any@text',
    },
    mails: [
      { email: 'old@example.com', primary: false, verified: true },
      { email: 'octocat@example.com', primary: true, verified: true },
    ] as readonly object[],
  }
  const requests: { readonly url: string; readonly body: string | undefined; readonly headers: Headers }[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const body = typeof init.body === 'string' ? init.body : undefined
    requests.push({ url, body, headers: new Headers(init.headers) })
    // GitHub reports errors of this endpoint with the status 200.
    if (url === 'https://github.com/login/oauth/access_token') {
      return new URLSearchParams(body).get('code') === 'github-code'
        ? json({ access_token: 'gho_token', token_type: 'bearer', scope: 'read:user,user:email' })
        : json({ error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' })
    }
    if (new Headers(init.headers).get('authorization') !== 'Bearer gho_token') return json({}, 401)
    if (url === 'https://api.github.com/user') return json(state.user)
    return url === 'https://api.github.com/user/emails' ? json(state.mails) : json({}, 404)
  }
  /** Where GitHub sends the browser. */
  const authorize = (request: URL, code = 'github-code'): string =>
    `${request.searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state: request.searchParams.get('state') ?? '' })}`
  return { state, requests, fetch, authorize }
}
