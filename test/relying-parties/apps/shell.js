import { createServer } from 'node:http'

export const scope = 'openid profile offline_access'

const escaped = (text) => text.replaceAll(/[&<>]/gu, (letter) => `&#${letter.charCodeAt(0)};`)

/** The pages of every application: a link that signs in, or what it knows of the user. */
export function page(user) {
  const content =
    user === undefined
      ? '<a id="login" href="/login">Sign in</a>'
      : `<pre id="user">${escaped(JSON.stringify(user))}</pre><a id="refresh" href="/refresh">Refresh</a> <a id="logout" href="/logout">Sign out</a>`
  return `<!doctype html><html lang="en"><title>Application</title><body>${content}`
}

/** Listens on loopback. Resolves when requests are accepted. */
export const listen = (app, port) =>
  new Promise((resolve) => createServer(app).listen(port, '127.0.0.1', () => resolve()))

/** Sends a form to an endpoint of the provider, as a client with a secret. */
export async function post(endpoint, { clientId, secret }, form) {
  const authorization = `Basic ${btoa(`${clientId}:${secret}`)}`
  const init = { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) }
  const response = await fetch(endpoint, init)
  if (response.status !== 200) throw new Error(await response.text())
  return response.json()
}

/** Returns the URL that ends the session at the provider. */
export function endSessionUrl({ end_session_endpoint: endpoint }, hint, home) {
  const url = new URL(endpoint)
  url.search = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: home })
  return url.href
}
