import express from 'express'
import * as client from 'openid-client'
import { listen, page, scope } from './shell.js'

/**
 * A native application, as AppAuth does it: a public client that opens the system's browser, and listens on a free port
 * of the loopback interface for one response. The page at `port` stands for its window.
 */
export async function start({ issuer, port, clientId }) {
  const options = { execute: [client.allowInsecureRequests] }
  const config = await client.discovery(new URL(issuer), clientId, undefined, client.None(), options)
  let user
  let tokens

  async function remember(received, refreshed) {
    const sub = received.claims()?.sub ?? user.sub
    const { name } = await client.fetchUserInfo(config, received.access_token, sub)
    tokens = { refresh: received.refresh_token, id: received.id_token ?? tokens.id }
    user = { sub, name, refreshed }
  }

  /** Listens for one request. Returns its port, and the URL of the request. */
  async function listenOnce(path) {
    const app = express()
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port: free } = server.address()
    const received = new Promise((resolve) => {
      app.get(path, (request, response) => {
        response.redirect(`http://127.0.0.1:${port}/`)
        server.close()
        resolve(new URL(request.url, `http://127.0.0.1:${free}`))
      })
    })
    return { uri: `http://127.0.0.1:${free}${path}`, received }
  }

  const app = express()
  let signingIn = Promise.resolve()
  app.get('/', async (_, response) => {
    await signingIn
    response.send(page(user))
  })
  app.get('/login', async (_, response) => {
    const { uri, received } = await listenOnce('/callback')
    const verifier = client.randomPKCECodeVerifier()
    const state = client.randomState()
    const url = client.buildAuthorizationUrl(config, {
      state,
      redirect_uri: uri,
      scope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    void received.then((callback) => {
      const checks = { pkceCodeVerifier: verifier, expectedState: state }
      signingIn = client.authorizationCodeGrant(config, callback, checks).then((all) => remember(all, false))
    })
    response.redirect(url.href)
  })
  app.get('/refresh', async (_, response) => {
    await remember(await client.refreshTokenGrant(config, tokens.refresh), true)
    response.redirect('/')
  })
  app.get('/logout', (_, response) => {
    user = undefined
    const parameters = { id_token_hint: tokens.id, post_logout_redirect_uri: `http://127.0.0.1:${port}/` }
    response.redirect(client.buildEndSessionUrl(config, parameters).href)
  })
  await listen(app, port)
}
