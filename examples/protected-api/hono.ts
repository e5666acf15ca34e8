import { fetchMiddleware } from '@grantry/adapters/fetch'
import { requireToken, tokenOf } from '@grantry/resource-server/hono'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { issuer, port } from '../provider.ts'
import { api, createProviderWithRobot } from './setup.ts'

const grantry = fetchMiddleware(await createProviderWithRobot())

const app = new Hono()
app.use((c, next) => grantry(c.req.raw) ?? next())
app.get('/hello', (c) => c.text('hello from Hono'))

app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (c) =>
  c.json({ framework: 'Hono', client: tokenOf(c).claims.client_id }),
)

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
