import { koaMiddleware } from '@grantry/adapters/node'
import Koa from 'koa'
import { createDemoProvider, issuer, port } from '../provider.ts'

const app = new Koa()
// Before any body parser, because a body can be read only once.
app.use(koaMiddleware(await createDemoProvider()))
app.use((ctx) => {
  if (ctx.path === '/hello') ctx.body = 'hello from Koa'
})

app.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
