import express from 'express'
import { auth } from 'express-openid-connect'
import { listen, page, scope } from './shell.js'

export async function start({ issuer, port, clientId, secret }) {
  const baseURL = `http://127.0.0.1:${port}`
  const app = express()
  app.use(
    auth({
      issuerBaseURL: issuer,
      baseURL,
      clientID: clientId,
      clientSecret: secret,
      secret: 'a secret of at least 32 characters',
      authRequired: false,
      idpLogout: true,
      authorizationParams: { response_type: 'code', scope },
    }),
  )
  const show = async ({ oidc }, refreshed) => {
    const { sub, name } = await oidc.fetchUserInfo()
    return page({ sub, name, refreshed })
  }
  app.get('/', async (request, response) =>
    response.send(request.oidc.isAuthenticated() ? await show(request, false) : page()),
  )
  app.get('/refresh', async (request, response) => {
    await request.oidc.accessToken.refresh()
    response.send(await show(request, true))
  })
  await listen(app, port)
}
