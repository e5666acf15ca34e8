import { koaMiddleware } from '@grantry/adapters/node'
import { requireToken, tokenOf } from '@grantry/resource-server/koa'
import Koa from 'koa'
import { issuer, port } from '../provider.ts'
import { api, createProviderWithRobot } from './setup.ts'

const app = new Koa()
app.use(koaMiddleware(await createProviderWithRobot()))

const readsOrders = requireToken(api, { scopes: 'orders:read' })
app.use(async (ctx) => {
  if (ctx.path === '/hello') ctx.body = 'hello from Koa'
  if (ctx.path !== '/orders') return
  await readsOrders(ctx, async () => {
    ctx.body = { framework: 'Koa', client: tokenOf(ctx).claims.client_id }
  })
})

app.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
