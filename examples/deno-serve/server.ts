import { denoHandler } from '@grantry/adapters/deno'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = denoHandler(await createDemoProvider())

Deno.serve({ port, hostname: '127.0.0.1', onListen: () => console.log(`Listening on ${issuer}`) }, (request, info) => {
  if (new URL(request.url).pathname === '/hello') return new Response('hello from Deno')
  return grantry(request, info)
})
