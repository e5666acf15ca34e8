import { fetchHandler, fetchMiddleware } from '@grantry/adapters/fetch'
import { createProvider, type Provider, type ProviderOptions } from '@grantry/core'

/** The part of the context of an invocation that this package uses. */
export interface InvocationContext {
  waitUntil(work: Promise<unknown>): void
}

type MaybePromise<T> = T | Promise<T>

/** The handlers of a Worker besides the endpoints of the provider. */
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

type Storage = ProviderOptions['storage']

interface Opened {
  readonly provider: Provider
  readonly storage: Storage
  readonly handle: (request: Request) => Promise<Response>
  /** As `handle`, but `undefined` for a request to no endpoint of the provider. */
  readonly handleOwn: (request: Request) => Promise<Response> | undefined
}

/** Cloudflare sets it for each request, and replaces what a client has sent. */
const clientAddress = (request: Request): string | undefined => request.headers.get('cf-connecting-ip') ?? undefined

/** Removes expired items, if the driver has no other way. */
function purge(storage: Storage): unknown {
  const { purge: remove } = storage as { readonly purge?: unknown }
  return typeof remove === 'function' ? remove.call(storage) : undefined
}

/** Performs each task, even after the failure of another one. @throws the failure, or all of them together. */
async function doAll(works: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) {
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '))
  if (failures.length === 1) throw failures[0]
}

/**
 * Closes a provider or storage that no request will use, after the response. A failure to close it must not fail a
 * request.
 */
function closeLater(context: InvocationContext, close: () => unknown): void {
  context.waitUntil(Promise.allSettled([(async () => close())()]))
}

/**
 * Creates the handlers of a Worker that is a provider. The first request of an isolate creates the provider, because a
 * Worker can read bindings and random values only then. A failure is not kept: the next request tries again.
 *
 * A cron trigger must call `scheduled`, every few minutes: it rotates keys, runs the tasks of plugins and removes expired items.
 *
 * @param optionsOf returns the options of `createProvider()`. Called again for each environment, and for each of several
 * first requests that arrive together. Create the storage in this function: that of a provider that is not kept is closed.
 * Its second parameter returns the provider of these options, once it exists, for `combinedUsers()` and similar functions.
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
  optionsOf: (environment: Environment, provider: () => Provider) => MaybePromise<ProviderOptions>,
  host: WorkerHost<Environment> = {},
): GrantryWorker<Environment> {
  const opened = new WeakMap<Environment, Opened>()

  /** Keeps the result, not the promise: a request cannot await the I/O of another one. */
  async function open(environment: Environment, context: InvocationContext): Promise<Opened> {
    const known = opened.get(environment)
    if (known !== undefined) return known
    let provider: Provider | undefined
    const options = await optionsOf(environment, () => {
      if (provider === undefined)
        throw new TypeError('worker(): the provider does not exist until its options are returned')
      return provider
    })
    const { storage } = options
    const isUsed = () => opened.get(environment)?.storage === storage
    try {
      provider = await createProvider(options)
    } catch (error) {
      if (!isUsed()) closeLater(context, () => storage?.dispose?.())
      throw error
    }
    const { close } = provider
    const faster = opened.get(environment)
    if (faster !== undefined) {
      if (!isUsed()) closeLater(context, close)
      return faster
    }
    const result: Opened = {
      provider,
      storage,
      handle: fetchHandler(provider, { clientAddress }),
      handleOwn: fetchMiddleware(provider, { clientAddress }),
    }
    opened.set(environment, result)
    return result
  }

  return {
    async fetch(request, environment, context) {
      const { provider, handle, handleOwn } = await open(environment, context)
      if (host.fetch === undefined) return handle(request)
      return handleOwn(request) ?? host.fetch(request, environment, context, provider)
    },

    async scheduled(event, environment, context) {
      const { provider, storage } = await open(environment, context)
      await doAll([
        // Reading the keys begins a rotation that is due, and the tasks wait for it.
        () => provider.keys.list(),
        () => provider.runTasks(),
        () => purge(storage),
        () => host.scheduled?.(event, environment, context, provider),
      ])
    },
  }
}
