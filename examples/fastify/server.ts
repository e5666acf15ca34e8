import { fastifyHook } from '@grantry/adapters/node'
import { fastify } from 'fastify'
import { createDemoProvider, issuer, port } from '../provider.ts'

const app = fastify()
// The first hook runs before the body is parsed, and also for paths without a route.
app.addHook('onRequest', fastifyHook(await createDemoProvider()))
app.get('/hello', async () => 'hello from Fastify')

await app.listen({ port, host: '127.0.0.1' })
console.log(`Listening on ${issuer}`)
