import { randomUUID } from 'node:crypto'
import { nodeMiddleware, nodeRoute } from '@grantry/adapters/node'
import { htmlHeaders, type UserService } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { loginPage } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import express from 'express'
import { createDemoProvider, demoClient, issuer, port } from '../provider.ts'
import { authorize, type SignedIn } from './authorize.ts'

// Instead of your users and their hashed passwords.
const users: UserService = {
  authenticate: ({ username, password }) =>
    username === 'alice' && password === 'alice-password' ? { sub: '1' } : undefined,
}
const web = {
  ...demoClient,
  clientId: 'web',
  grantTypes: ['authorization_code'],
  scopes: ['openid'],
  redirectUris: [`${issuer}/hello`],
}
const plugins = [clientCredentials(), authorizationCode(), proofKey(), loginPage()]
const authorizationEndpoint = `${issuer}/authorize`
const provider = await createDemoProvider({ users, plugins, clients: [demoClient, web], authorizationEndpoint })

const sessions = new Map<string, SignedIn>()
const sessionOf = ({ headers }: express.Request) => /(?:^|; *)session=([^;]*)/u.exec(headers.cookie ?? '')?.[1] ?? ''

const loginForm = (query: string, status = 200): Response => {
  const fields = '<input name="username"> <input name="password" type="password"> <button>Sign in</button>'
  const query_ = query.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const form = `<form method="post" action="/login"><input type="hidden" name="query" value="${query_}">${fields}</form>`
  // A browser applies form-action to the redirect to the client too.
  return new Response(form, { status, headers: htmlHeaders({ form: [issuer] }) })
}

const app = express()
app.use(nodeMiddleware(provider))
const page = nodeRoute<express.Request>(provider, (request, { req }) =>
  authorize(provider, request, sessions.get(sessionOf(req)), loginForm),
)
app.get('/authorize', page)
const login = nodeRoute<express.Request>(provider, async (request, { clientAddress }) => {
  const { username = '', password = '', query = '' } = Object.fromEntries(new URLSearchParams(await request.text()))
  // A form of another site would sign the user in with the account of an attacker. Browsers send this header.
  if ((request.headers.get('sec-fetch-site') ?? 'same-origin') !== 'same-origin') return loginForm(query, 403)
  const outcome = await provider.authenticateUser({ username, password }, { clientId: 'web', clientAddress })
  if (outcome === undefined) return loginForm(query, 403)
  const id = randomUUID()
  sessions.set(id, { ...outcome, amr: ['pwd'], authTime: Math.floor(Date.now() / 1000) })
  const headers = { location: `/authorize${query}`, 'set-cookie': `session=${id}; HttpOnly; SameSite=Lax; Path=/` }
  return new Response(null, { status: 303, headers })
})
app.post('/login', login)
app.get('/hello', (_req, res) => void res.send('hello from Express'))
app.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
