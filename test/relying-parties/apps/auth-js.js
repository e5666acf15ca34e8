import { ExpressAuth, getSession } from '@auth/express'
import express from 'express'
import { endSessionUrl, listen, page, post, scope } from './shell.js'

/** Auth.js. It neither refreshes tokens nor signs out at the provider by itself. */
export async function start({ issuer, port, clientId, secret }) {
  const home = `http://127.0.0.1:${port}/`
  const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
  let tokens
  const options = {
    secret: 'a secret of at least 32 characters',
    trustHost: true,
    providers: [
      {
        id: 'grantry',
        name: 'Grantry',
        type: 'oidc',
        issuer,
        clientId,
        clientSecret: secret,
        authorization: { params: { scope } },
      },
    ],
    callbacks: {
      jwt({ token, account }) {
        if (account) tokens = { refresh: account.refresh_token, id: account.id_token }
        return token
      },
      session: ({ session, token }) => ({ ...session, sub: token.sub }),
    },
  }
  const app = express()
  app.set('trust proxy', true)
  // It reads the first group of the path.
  app.use(/^\/auth\/(.*)/u, ExpressAuth(options))
  const userOf = async (request) => {
    const session = await getSession(request, options)
    return session === null ? undefined : { sub: tokens.sub, name: tokens.name }
  }
  const remember = async (access) => {
    const headers = { authorization: `Bearer ${access}` }
    const { sub, name } = await (await fetch(metadata.userinfo_endpoint, { headers })).json()
    tokens = { ...tokens, sub, name }
  }
  const refresh = async () => {
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh }
    const { access_token, refresh_token } = await post(metadata.token_endpoint, { clientId, secret }, form)
    tokens = { ...tokens, refresh: refresh_token }
    await remember(access_token)
  }
  app.get('/', async (request, response) => {
    const session = await getSession(request, options)
    if (session !== null && tokens.sub === undefined) await refresh()
    const user = await userOf(request)
    response.send(page(user && { ...user, refreshed: false }))
  })
  app.get('/login', (_, response) => response.redirect('/auth/signin'))
  app.get('/refresh', async (request, response) => {
    await refresh()
    response.send(page({ ...(await userOf(request)), refreshed: true }))
  })
  app.get('/logout', (_, response) => {
    response.clearCookie('authjs.session-token')
    response.redirect(endSessionUrl(metadata, tokens.id, home))
    tokens = undefined
  })
  await listen(app, port)
}
