import { fetchHandler } from '@grantry/adapters/fetch'
import { createProvider, type Provider, type ProviderOptions } from '@grantry/core'

/** What this package uses of the context of an invocation. */
export interface InvocationContext {
  waitUntil(work: Promise<unknown>): void
}

type MaybePromise<T> = T | Promise<T>

/** What a Worker has besides the endpoints of the provider. */
export interface WorkerHost<Environment> {
  /** Responds to requests for all other paths. Default: the 404 of the provider. */
  readonly fetch?:
    | ((
        request: Request,
        environment: Environment,
        context: InvocationContext,
        provider: Provider,
      ) => MaybePromise<Response>)
    | undefined
  /** Does other scheduled work, after that of the provider. */
  readonly scheduled?:
    | ((event: unknown, environment: Environment, context: InvocationContext, provider: Provider) => MaybePromise<void>)
    | undefined
}

/** The handlers that a Worker exports. */
export interface GrantryWorker<Environment> {
  fetch(request: Request, environment: Environment, context: InvocationContext): Promise<Response>
  scheduled(event: unknown, environment: Environment, context: InvocationContext): Promise<void>
}

interface Opened {
  readonly provider: Provider
  readonly handle: (request: Request) => Promise<Response>
  /** Removes expired items, if the driver has no other way. */
  readonly purge: () => unknown
}

/** Cloudflare sets it for each request, and replaces what a client has sent. */
const clientAddress = (request: Request): string | undefined => request.headers.get('cf-connecting-ip') ?? undefined

function purgeOf({ storage }: ProviderOptions): () => unknown {
  const { purge } = storage as { readonly purge?: unknown }
  return () => (typeof purge === 'function' ? purge.call(storage) : undefined)
}

/**
 * Creates the handlers of a Worker that is a provider. The first request of an isolate creates the provider, because a
 * Worker can read bindings and random values only then. A failure is not kept: the next request tries again.
 *
 * A cron trigger must call `scheduled`, every few minutes: it rotates keys, runs the tasks of plugins and removes expired items.
 *
 * @param optionsOf returns the options of `createProvider()`. Called again for each environment, and for each of several
 * first requests that arrive together.
 * @example
 * export default worker((env: Env) => ({
 *   issuer: env.ISSUER,
 *   keys: storedKeys({ encryptionSecret: env.KEY_SECRET }),
 *   storage: d1Driver({ database: env.DB }),
 *   clients: [],
 *   plugins: [clientCredentials()],
 * }))
 */
export function worker<Environment extends object>(
  optionsOf: (environment: Environment) => MaybePromise<ProviderOptions>,
  host: WorkerHost<Environment> = {},
): GrantryWorker<Environment> {
  const opened = new WeakMap<Environment, Opened>()

  /** Keeps the result, not the promise: a request cannot await what belongs to another one. */
  async function open(environment: Environment): Promise<Opened> {
    const known = opened.get(environment)
    if (known !== undefined) return known
    const options = await optionsOf(environment)
    const provider = await createProvider(options)
    // Another request can have been faster.
    const result = opened.get(environment) ?? {
      provider,
      handle: fetchHandler(provider, { clientAddress }),
      purge: purgeOf(options),
    }
    opened.set(environment, result)
    return result
  }

  return {
    async fetch(request, environment, context) {
      const { provider, handle } = await open(environment)
      const isOther = host.fetch !== undefined && provider.route(request) === undefined
      return isOther ? host.fetch(request, environment, context, provider) : handle(request)
    },

    async scheduled(event, environment, context) {
      const { provider, purge } = await open(environment)
      await purge()
      // Reading the keys begins a rotation that is due, and the tasks wait for it.
      await provider.keys.list()
      await provider.runTasks()
      await host.scheduled?.(event, environment, context, provider)
    },
  }
}
