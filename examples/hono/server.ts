import { fetchMiddleware } from '@grantry/adapters/fetch'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = fetchMiddleware(await createDemoProvider())

const app = new Hono()
app.use((c, next) => grantry(c.req.raw) ?? next())
app.get('/hello', (c) => c.text('hello from Hono'))

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
