import { type FetchOptions, fetchHandler } from '@grantry/adapters/fetch'
import { createProvider, type Provider, type ProviderOptions } from '@grantry/core'

/** Returns the options of the provider. Called when it is opened, not when the module is loaded. */
export type OptionsSource = () => ProviderOptions | Promise<ProviderOptions>

/** A provider that opens, or is open. Requests hold it open. */
interface Lease {
  readonly provider: Promise<Provider>
  readonly fetch: Promise<(request: Request) => Promise<Response>>
  holders: number
  isRetired: boolean
}

/** Shared by all copies of the module of a host in one process. */
export interface SharedProvider {
  source: OptionsSource
  fetchOptions: FetchOptions
  lease: Lease | undefined
  timer: unknown
}

/** Next.js bundles a module once for routes, once for pages and once for `instrumentation.ts`, and again after each edit. */
const key = Symbol.for('@grantry/next')

const isProduction = (): boolean => process.env.NODE_ENV === 'production'

async function open(source: OptionsSource): Promise<Provider> {
  const options = await source()
  try {
    return await createProvider(options)
  } catch (error) {
    // The next request opens another storage.
    const dispose = async (): Promise<void> => options.storage?.dispose?.()
    await Promise.allSettled([dispose()])
    throw error
  }
}

async function close({ provider }: Lease): Promise<void> {
  // A request has reported a provider that did not open.
  const opened = await provider.catch(() => undefined)
  await opened?.close().catch((error: unknown) => console.error('The former provider was not closed:', error))
}

function retire(lease: Lease): void {
  lease.isRetired = true
  if (lease.holders === 0) void close(lease)
}

/**
 * Returns what this process shares under a name. In development, the newest source replaces the one before: a module was
 * edited. In production, another source is a copy of the first one.
 */
export function shareProvider(name: string, source: OptionsSource, fetchOptions: FetchOptions): SharedProvider {
  const all = globalThis as { [key]?: Map<string, SharedProvider> }
  all[key] ??= new Map()
  const known = all[key].get(name)
  if (known === undefined) {
    const shared = { source, fetchOptions, lease: undefined, timer: undefined }
    all[key].set(name, shared)
    return shared
  }
  if (isProduction()) return known
  const former = known.lease
  Object.assign(known, { source, fetchOptions, lease: undefined })
  if (former !== undefined) retire(former)
  return known
}

function newLease(shared: SharedProvider): Lease {
  const { fetchOptions } = shared
  const provider = open(shared.source)
  const lease: Lease = {
    provider,
    fetch: provider.then((opened) => fetchHandler(opened, fetchOptions)),
    holders: 0,
    isRetired: false,
  }
  lease.fetch.catch(() => {
    if (shared.lease === lease) shared.lease = undefined
  })
  return lease
}

/**
 * Opens the provider, unless it is open, and holds it open during the call.
 *
 * @throws what `source` and `createProvider()` throw. The next call tries again.
 */
export async function withLease<T>(shared: SharedProvider, call: (lease: Lease) => Promise<T>): Promise<T> {
  shared.lease ??= newLease(shared)
  const { lease } = shared
  lease.holders += 1
  try {
    return await call(lease)
  } finally {
    lease.holders -= 1
    if (lease.isRetired && lease.holders === 0) void close(lease)
  }
}
