import express from 'express'
import session from 'express-session'
import * as client from 'openid-client'
import { listen, page, scope } from './shell.js'

/** openid-client v6 on a web server. */
export async function start({ issuer, port, clientId, secret }) {
  const home = `http://127.0.0.1:${port}/`
  const options = { execute: [client.allowInsecureRequests] }
  const config = await client.discovery(new URL(issuer), clientId, secret, undefined, options)
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: true }))

  const remember = async (state, tokens, refreshed) => {
    const sub = tokens.claims()?.sub ?? state.user.sub
    const { name } = await client.fetchUserInfo(config, tokens.access_token, sub)
    state.tokens = { refresh: tokens.refresh_token, id: tokens.id_token ?? state.tokens?.id }
    state.user = { sub, name, refreshed }
  }

  app.get('/', (request, response) => response.send(page(request.session.user)))
  app.get('/login', async (request, response) => {
    const verifier = client.randomPKCECodeVerifier()
    const checks = { state: client.randomState(), nonce: client.randomNonce() }
    request.session.checks = { ...checks, verifier }
    const url = client.buildAuthorizationUrl(config, {
      ...checks,
      redirect_uri: `${home}callback`,
      scope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    response.redirect(url.href)
  })
  app.get('/callback', async (request, response) => {
    const { verifier, state, nonce } = request.session.checks
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce }
    const tokens = await client.authorizationCodeGrant(config, new URL(request.url, home), checks)
    await remember(request.session, tokens, false)
    response.redirect('/')
  })
  app.get('/refresh', async (request, response) => {
    const tokens = await client.refreshTokenGrant(config, request.session.tokens.refresh)
    await remember(request.session, tokens, true)
    response.redirect('/')
  })
  app.get('/logout', (request, response) => {
    const { id } = request.session.tokens
    const parameters = { id_token_hint: id, post_logout_redirect_uri: home }
    request.session.destroy(() => response.redirect(client.buildEndSessionUrl(config, parameters).href))
  })
  await listen(app, port)
}
