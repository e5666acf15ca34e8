import { bunHandler } from '@grantry/adapters/bun'
import { createDemoProvider, issuer, port } from '../provider.ts'

Bun.serve({
  port,
  hostname: '127.0.0.1',
  // In development mode, Bun responds to errors of your routes with a page that shows the source.
  development: false,
  routes: { '/hello': () => new Response('hello from Bun') },
  fetch: bunHandler(await createDemoProvider()),
})
console.log(`Listening on ${issuer}`)
