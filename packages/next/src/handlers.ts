import type { FetchOptions } from '@grantry/adapters/fetch'
import type { Provider } from '@grantry/core'
import {
  createComparison,
  type OptionsSource,
  type SharedProvider,
  shareProvider,
  withLease,
} from './shared-provider.ts'

/** Seconds between two runs, as in the ready server. */
const interval = 5

/** Whether the process serves requests. `next build` loads the module, and the edge runtime has no timer. */
const isServer = (): boolean =>
  process.env.NEXT_RUNTIME !== 'edge' && process.env.NEXT_PHASE !== 'phase-production-build'

function startTasks(shared: SharedProvider): void {
  if (shared.timer !== undefined || !isServer()) return
  let reported = ''
  async function run(): Promise<void> {
    try {
      await withLease(shared, async ({ provider }) => (await provider).runTasks())
      reported = ''
    } catch (error) {
      // Reports an error once, because the storage can be unreachable for hours.
      if (String(error) !== reported) console.error('The provider does not open:', error)
      reported = String(error)
    }
  }
  const timer = setInterval(() => void run(), interval * 1000)
  timer.unref()
  shared.timer = timer
  void run()
}

/** The options that `handlers()` cannot read from Next.js. */
export interface HandlersOptions extends FetchOptions {
  /** Distinguishes the providers of an application that has several. Two with one name are refused. Default: `provider`. */
  readonly name?: string | undefined
}

/** A handler of a route file. */
export type RouteHandler = (request: Request) => Promise<Response>

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** The exports of a route file, and the provider behind them. */
export interface ProviderHandlers extends Readonly<Record<(typeof methods)[number], RouteHandler>> {
  /**
   * Returns the provider, for pages and server actions. Call it in each request: an edit replaces the provider in development,
   * and closes the former a minute later.
   *
   * @throws what the options and `createProvider()` throw; TypeError if another provider has the same name.
   */
  provider(): Promise<Provider>
  /**
   * Opens the provider and runs the tasks of its plugins every few seconds, until the process ends. Call it in `register()`
   * of `instrumentation.ts`. It does nothing during `next build` and on the edge runtime, and a second time.
   */
  startTasks(): void
}

/**
 * The route handlers of a provider, for `app/[...path]/route.ts` in the folder of the issuer's path. The first request opens
 * the provider, one for all copies of the module in the process, so that `next build` opens nothing. After an edit in
 * development, the next request opens another one, and the former is closed when its last request has ended.
 *
 * @param source returns the options of `createProvider()`. Create the storage in this function.
 * @example
 * // grantry.ts
 * export const grantry = handlers(() => ({ issuer: 'https://example.com/id', keys: storedKeys(), ...rest }))
 * // app/id/[...path]/route.ts
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = grantry
 */
export function handlers(source: OptionsSource, options: HandlersOptions = {}): ProviderHandlers {
  const { name = 'provider', ...fetchOptions } = options
  const shared = shareProvider(name, source, fetchOptions)
  const compare = createComparison(name, shared, source)
  const handle: RouteHandler = (request) =>
    withLease(shared, async (lease) => {
      await compare(lease)
      return (await lease.fetch)(request)
    })
  return {
    ...(Object.fromEntries(methods.map((method) => [method, handle])) as Record<
      (typeof methods)[number],
      RouteHandler
    >),
    provider: () =>
      withLease(shared, async (lease) => {
        await compare(lease)
        lease.isLent = true
        return lease.provider
      }),
    startTasks: () => startTasks(shared),
  }
}
