// Stands in for the router of Next.js (`node --import tsx route-handler/server.ts next`) or SvelteKit (`...
// sveltekit`): calls the exports of the route file and the hook of SvelteKit as they do, and adds one host route.
import { serve } from '@hono/node-server'
import { issuer, port } from '../provider.ts'

type Answer = (request: Request) => Response | Promise<Response>

const isHello = (request: Request): boolean => new URL(request.url).pathname === '/hello'
const notAllowed = (): Response => new Response(null, { status: 405 })

const frameworks: Readonly<Record<string, () => Promise<Answer>>> = {
  async next() {
    const methods: Readonly<Record<string, Answer>> = await import('./next/app/[...path]/route.ts')
    return (request) =>
      isHello(request) ? new Response('hello from Next.js') : (methods[request.method] ?? notAllowed)(request)
  },
  async sveltekit() {
    const { handle } = await import('./sveltekit/src/hooks.server.ts')
    const routes = await import('./sveltekit/src/routes/[...path]/+server.ts')
    const methods: Readonly<Record<string, typeof routes.GET>> = routes
    const resolve = ({ request }: { readonly request: Request }) =>
      isHello(request) ? new Response('hello from SvelteKit') : (methods[request.method] ?? notAllowed)({ request })
    return (request) => handle({ event: { request, url: new URL(request.url) }, resolve })
  },
}

const load = frameworks[process.argv[2] ?? '']
if (load === undefined) throw new TypeError(`Pass one of these arguments: ${Object.keys(frameworks).join(', ')}`)
serve({ fetch: await load(), port, hostname: '127.0.0.1' }, () => console.log(`Listening on ${issuer}`))
