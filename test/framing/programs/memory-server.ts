import type { RunningServer, Servable } from '@grantry/adapters/node'
import { fixture } from '../../support/fixture.ts'
import { endWithParent } from '../../support/programs/end-with-parent.ts'

type Serve = (
  provider: Servable,
  options: { readonly requestTimeout: number },
) => Promise<Pick<RunningServer, 'port' | 'close'>>

interface Collector {
  readonly Bun?: { gc(force: boolean): void }
  readonly gc?: () => void
}

/**
 * A server that allows slow bodies, with a path that never responds and never reads its body. For each line on standard
 * input, it collects garbage and prints the bytes still in use.
 */
export async function run(serve: Serve): Promise<void> {
  endWithParent()
  const { provider } = await fixture()
  const never = new Promise<Response>(() => undefined)
  const fetch: Servable['fetch'] = (request, connection) =>
    request.url.endsWith('/never') ? never : provider.fetch(request, connection)
  const { port, close } = await serve({ issuer: provider.issuer, fetch }, { requestTimeout: 120 })
  const { Bun, gc } = globalThis as Collector
  process.stdin.on('data', () => {
    Bun?.gc(true)
    gc?.()
    const { heapUsed, external } = process.memoryUsage()
    console.log(`held ${heapUsed + external}`)
  })
  process.once('SIGTERM', async () => {
    process.stdin.destroy()
    await close(0)
  })
  console.log(`listening ${port}`)
}
