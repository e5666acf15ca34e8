import { fastifyHook } from '@grantry/adapters/node'
import { fastify } from 'fastify'
import { createDemoProvider, issuer, port } from '../provider.ts'

const app = fastify()
// The first hook of a request: no parser has read the body yet. For paths without a route Fastify runs it too.
app.addHook('onRequest', fastifyHook(await createDemoProvider()))
app.get('/hello', async () => 'hello from Fastify')

await app.listen({ port, host: '127.0.0.1' })
console.log(`Listening on ${issuer}`)
