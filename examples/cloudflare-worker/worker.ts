import { fetchMiddleware } from '@grantry/adapters/fetch'
import { createDemoProvider } from '../provider.ts'
import { durableObjectDriver } from './durable-object-driver.ts'
import type { Item } from './item.ts'

export { Item } from './item.ts'

interface Bindings {
  readonly ITEMS: DurableObjectNamespace<Item>
  /** A private JWK. Generated keys would differ between isolates. */
  readonly SIGNING_KEY: string
  readonly PORT: string | null
}

const mount = async ({ ITEMS, SIGNING_KEY, PORT }: Bindings) =>
  fetchMiddleware(
    await createDemoProvider({
      issuer: `http://127.0.0.1:${PORT ?? 3000}`,
      keys: [JSON.parse(SIGNING_KEY)],
      storage: durableObjectDriver(ITEMS),
    }),
  )

// Created by the first request, because a Worker cannot do I/O before. Stores the result, not the promise: a request
// cannot await a promise of another one.
let grantry: Awaited<ReturnType<typeof mount>> | undefined

export default {
  async fetch(request, bindings) {
    grantry ??= await mount(bindings)
    if (new URL(request.url).pathname === '/hello') return new Response('hello from a Worker')
    return (await grantry(request)) ?? new Response('Not found', { status: 404 })
  },
} satisfies ExportedHandler<Bindings>
