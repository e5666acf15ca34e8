// A relying party without dependencies, as short as it can be. Use a library such as openid-client in an application.

const clientId = 'demo-spa'
const redirectUri = `${location.origin}/demo/callback`
const scope = 'openid profile email offline_access api1'

/** @typedef {{ access_token: string, refresh_token?: string, id_token?: string }} Tokens */

/** @param {string} id */
function part(id) {
  const node = document.getElementById(id)
  if (node === null) throw new Error(`There is no element ${id}`)
  return node
}

/** @param {Uint8Array} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** @param {string} text */
const sha256 = async (text) =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))

/**
 * Returns the claims of a JWT. The token comes from the token endpoint itself, so its signature needs no check (OpenID
 * Connect Core section 3.1.3.7).
 *
 * @param {string | undefined} token
 */
function claimsOf(token) {
  const payload = token?.split('.')[1]
  if (payload === undefined) return undefined
  const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0))))
}

/** @returns {Tokens | undefined} */
const storedTokens = () => JSON.parse(sessionStorage.getItem('tokens') ?? 'null') ?? undefined

/** @param {unknown} value */
const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value, undefined, 2))

/** @param {string} text */
function report(text) {
  part('status').textContent = text
}

const discover = async () => (await fetch('/.well-known/openid-configuration')).json()

/** @param {Record<string, string>} form */
async function requestTokens(form) {
  const { token_endpoint } = await discover()
  const body = new URLSearchParams({ client_id: clientId, ...form })
  const response = await (await fetch(token_endpoint, { method: 'POST', body })).json()
  if (response.access_token === undefined) throw new Error(`${response.error}: ${response.error_description}`)
  sessionStorage.setItem('tokens', JSON.stringify({ ...storedTokens(), ...response }))
  return response
}

/** @param {Record<string, string>} more parameters of the request */
async function signIn(more) {
  const { authorization_endpoint } = await discover()
  const [verifier, state, nonce] = [randomText(), randomText(), randomText()]
  sessionStorage.setItem('request', JSON.stringify({ verifier, state, nonce }))
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    nonce,
    code_challenge: await sha256(verifier),
    code_challenge_method: 'S256',
    ...more,
  })
  location.assign(`${authorization_endpoint}?${parameters}`)
}

/** Redeems the code that the redirect has brought. */
async function finishSignIn() {
  const { code, state, iss, error } = Object.fromEntries(new URLSearchParams(location.search))
  const { issuer } = await discover()
  const request = JSON.parse(sessionStorage.getItem('request') ?? '{}')
  sessionStorage.removeItem('request')
  history.replaceState(null, '', '/')
  // RFC 9207: the response comes from the server that was asked.
  if (state === undefined || state !== request.state || iss !== issuer) throw new Error('The response does not fit')
  if (error !== undefined || code === undefined) throw new Error(`The server responded with ${error}`)
  const tokens = await requestTokens({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: request.verifier,
  })
  if (claimsOf(tokens.id_token)?.nonce !== request.nonce) throw new Error('The identity token does not fit')
  // The `sub` of the identity token is an id for programs, not a name.
  const { name } = await userinfo()
  if (name !== undefined) sessionStorage.setItem('name', name)
  return tokens
}

/**
 * The console has no redirect URI of its own: a code that it has asked for goes to its tab.
 *
 * @returns {boolean} whether the response is for the console
 */
function forwardToConsole() {
  const { code, state = '', error } = Object.fromEntries(new URLSearchParams(location.search))
  if (!state.startsWith('console.')) return false
  const channel = new BroadcastChannel('grantry-demo')
  channel.postMessage({ state, code, error })
  channel.close()
  history.replaceState(null, '', '/demo/callback')
  report(error === undefined ? 'The code is in the console now. You can close this tab.' : `No code: ${error}`)
  return true
}

async function userinfo() {
  const { userinfo_endpoint } = await discover()
  const headers = { authorization: `Bearer ${storedTokens()?.access_token}` }
  return (await fetch(userinfo_endpoint, { headers })).json()
}

async function signOut() {
  const { end_session_endpoint } = await discover()
  const hint = storedTokens()?.id_token
  sessionStorage.removeItem('tokens')
  sessionStorage.removeItem('name')
  if (end_session_endpoint === undefined || hint === undefined) return show(undefined)
  const parameters = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: `${location.origin}/` })
  location.assign(`${end_session_endpoint}?${parameters}`)
}

/** @param {unknown} response the last response; `undefined` if there was none */
function show(response) {
  const tokens = storedTokens()
  part('signed-out').hidden = tokens !== undefined
  part('signed-in').hidden = tokens === undefined
  report('')
  if (tokens === undefined) return
  const claims = claimsOf(tokens.id_token)
  const name = sessionStorage.getItem('name')
  part('user').textContent = name === null ? 'You are signed in' : `You are signed in as ${name}`
  part('response').textContent = shown(response ?? tokens)
  part('identity').textContent = shown(claims)
  part('access').textContent = shown(claimsOf(tokens.access_token) ?? tokens.access_token)
}

/** @param {() => Promise<unknown>} action */
async function run(action) {
  try {
    show(await action())
  } catch (error) {
    show(undefined)
    report(String(error))
  }
}

part('sign-in-alice').addEventListener('click', () => signIn({ login_hint: 'alice' }))
part('sign-in-bob').addEventListener('click', () => signIn({ login_hint: 'bob' }))
// Initiating User Registration via OpenID Connect 1.0: the page with which a user creates an account.
part('sign-up').addEventListener('click', () => signIn({ prompt: 'create' }))
part('userinfo').addEventListener('click', () => run(userinfo))
part('sign-out').addEventListener('click', signOut)
part('refresh').addEventListener('click', () =>
  run(() => requestTokens({ grant_type: 'refresh_token', refresh_token: storedTokens()?.refresh_token ?? '' })),
)

if (!location.pathname.endsWith('/callback')) show(undefined)
else if (!forwardToConsole()) run(finishSignIn)
