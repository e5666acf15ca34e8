import { fetchMiddleware } from '@grantry/adapters/fetch'
import { Elysia } from 'elysia'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = fetchMiddleware(await createDemoProvider())

new Elysia()
  // Before Elysia reads the body: what it has parsed, nobody can read again.
  .onRequest(({ request }) => grantry(request))
  .get('/hello', () => 'hello from Elysia')
  .listen({ port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
