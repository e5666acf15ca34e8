import { bunHandler } from '@grantry/adapters/bun'
import { createDemoProvider, issuer, port } from '../provider.ts'

Bun.serve({
  port,
  hostname: '127.0.0.1',
  // Bun would answer a failure of your own routes with a page that shows the source.
  development: false,
  routes: { '/hello': () => new Response('hello from Bun') },
  fetch: bunHandler(await createDemoProvider()),
})
console.log(`Listening on ${issuer}`)
