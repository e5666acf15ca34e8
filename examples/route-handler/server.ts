// Stands in for the router of Next.js (`node --import tsx route-handler/server.ts next`) or SvelteKit (`... sveltekit`): it calls the exports of a route
// file as they do, and has one route of the host beside it.
import { serve } from '@hono/node-server'
import { issuer, port } from '../provider.ts'

type Route = (request: Request) => Promise<Response>
type Methods<Call> = Readonly<Record<string, Call>>

const frameworks: Readonly<Record<string, () => Promise<Methods<Route>>>> = {
  next: () => import('./next/app/[...path]/route.ts'),
  async sveltekit() {
    const methods = await import('./sveltekit/src/routes/[...path]/+server.ts')
    return Object.fromEntries(
      Object.entries(methods).map(([method, answer]): [string, Route] => [method, (request) => answer({ request })]),
    )
  },
}

const framework = process.argv[2] ?? ''
const load = frameworks[framework]
if (load === undefined) throw new TypeError(`Name one of ${Object.keys(frameworks).join(', ')}`)
const methods = await load()

async function answer(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/hello') return new Response(`hello from ${framework}`)
  return methods[request.method]?.(request) ?? new Response(null, { status: 405 })
}

serve({ fetch: answer, port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
