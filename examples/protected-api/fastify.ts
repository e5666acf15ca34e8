import { fastifyHook } from '@grantry/adapters/node'
import { requireToken, tokenOf } from '@grantry/resource-server/fastify'
import { fastify } from 'fastify'
import { issuer, port } from '../provider.ts'
import { api, createProviderWithRobot } from './setup.ts'

const app = fastify()
app.addHook('onRequest', fastifyHook(await createProviderWithRobot()))
app.get('/hello', async () => 'hello from Fastify')

app.get('/orders', { onRequest: requireToken(api, { scopes: 'orders:read' }) }, async (request) => ({
  framework: 'Fastify',
  client: tokenOf(request).claims.client_id,
}))

await app.listen({ port, host: '127.0.0.1' })
console.log(`Listening on ${issuer}`)
