import express from 'express'
import session from 'express-session'
import passport from 'passport'
import OpenIDConnectStrategy from 'passport-openidconnect'
import { endSessionUrl, listen, page, post, scope } from './shell.js'

/** Passport. It neither refreshes tokens nor signs out at the provider by itself. */
export async function start({ issuer, port, clientId, secret }) {
  const home = `http://127.0.0.1:${port}/`
  const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
  const authenticator = new passport.Passport()
  const strategy = new OpenIDConnectStrategy(
    {
      issuer,
      authorizationURL: metadata.authorization_endpoint,
      tokenURL: metadata.token_endpoint,
      userInfoURL: metadata.userinfo_endpoint,
      clientID: clientId,
      clientSecret: secret,
      callbackURL: `${home}callback`,
      // By default, it calls userinfo only for a longer list of parameters.
      skipUserProfile: false,
      scope: scope.split(' ').slice(1),
    },
    (_issuer, profile, _context, idToken, _accessToken, refreshToken, done) =>
      done(null, { sub: profile.id, name: profile.displayName, idToken, refreshToken }),
  )
  authenticator.use('oidc', strategy)
  authenticator.serializeUser((user, done) => done(null, user))
  authenticator.deserializeUser((user, done) => done(null, user))

  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: true }))
  app.use(authenticator.session())
  const shown = ({ user }, refreshed) => page(user && { sub: user.sub, name: user.name, refreshed })
  app.get('/', (request, response) => response.send(shown(request, false)))
  app.get('/login', authenticator.authenticate('oidc'))
  app.get('/callback', authenticator.authenticate('oidc', { successRedirect: '/' }))
  app.get('/refresh', async (request, response) => {
    const form = { grant_type: 'refresh_token', refresh_token: request.user.refreshToken }
    request.user.refreshToken = (await post(metadata.token_endpoint, { clientId, secret }, form)).refresh_token
    response.send(shown(request, true))
  })
  app.get('/logout', (request, response) => {
    const url = endSessionUrl(metadata, request.user.idToken, home)
    request.session.destroy(() => response.redirect(url))
  })
  await listen(app, port)
}
