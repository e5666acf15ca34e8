import { fetchMiddleware } from '@grantry/adapters/fetch'
import { Elysia } from 'elysia'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = fetchMiddleware(await createDemoProvider())

new Elysia()
  // Before Elysia parses the body, which can be read only once.
  .onRequest(({ request }) => grantry(request))
  .get('/hello', () => 'hello from Elysia')
  .listen({ port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
