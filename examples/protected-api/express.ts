import { nodeMiddleware } from '@grantry/adapters/node'
import { requireToken, tokenOf } from '@grantry/resource-server/express'
import express from 'express'
import { issuer, port } from '../provider.ts'
import { api, createProviderWithRobot } from './setup.ts'

const app = express()
app.use(nodeMiddleware(await createProviderWithRobot()))
app.get('/hello', (_req, res) => {
  res.send('hello from Express')
})

app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (req, res) => {
  res.json({ framework: 'Express', client: tokenOf(req).claims.client_id })
})

app.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
