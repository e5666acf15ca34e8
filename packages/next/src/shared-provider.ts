import { type FetchOptions, fetchHandler } from '@grantry/adapters/fetch'
import { createProvider, type Provider, type ProviderOptions } from '@grantry/core'

/**
 * Returns the options of the provider. Called when it is opened, not when the module is loaded.
 *
 * @param provider returns the provider of these options, once it exists, for `combinedUsers()` and similar functions
 */
export type OptionsSource = (provider: () => Provider) => ProviderOptions | Promise<ProviderOptions>

/** A provider that opens, or is open. Requests hold it open. */
export interface Lease {
  readonly provider: Promise<Provider>
  readonly fetch: Promise<(request: Request) => Promise<Response>>
  holders: number
  isRetired: boolean
  /** Whether a page or a server action has the provider, which does not report when it ends. */
  isLent: boolean
}

/** Shared by all copies of the module of a host in one process. */
export interface SharedProvider {
  source: OptionsSource
  fetchOptions: FetchOptions
  lease: Lease | undefined
  /** The storage of the provider that was opened last. */
  storage: unknown
  timer: unknown
}

/** Next.js bundles a module once for routes, once for pages and once for `instrumentation.ts`, and again after each edit. */
const key = Symbol.for('@grantry/next')

const isProduction = (): boolean => process.env.NODE_ENV === 'production'

/** Milliseconds for which a former provider stays open for pages and server actions that have it. */
const lent = 60_000

/** Closes a storage that no provider uses. */
async function dispose({ storage }: ProviderOptions): Promise<void> {
  const close = async (): Promise<void> => storage?.dispose?.()
  await Promise.allSettled([close()])
}

/** @throws TypeError */
function refuseEarlyUse(): never {
  throw new TypeError('handlers(): the provider does not exist until its options are returned')
}

async function open(shared: SharedProvider): Promise<Provider> {
  let provider: Provider | undefined
  const options = await shared.source(() => provider ?? refuseEarlyUse())
  shared.storage = options.storage
  try {
    provider = await createProvider(options)
    return provider
  } catch (error) {
    // The next request opens another storage.
    await dispose(options)
    throw error
  }
}

async function close({ provider }: Lease): Promise<void> {
  // A request has reported a provider that did not open.
  const opened = await provider.catch(() => undefined)
  await opened?.close().catch((error: unknown) => console.error('The former provider was not closed:', error))
}

function closeUnused(lease: Lease): void {
  if (!lease.isRetired || lease.holders > 0) return
  if (!lease.isLent) return void close(lease)
  const timer: { unref?: () => void } = setTimeout(() => void close(lease), lent)
  timer.unref?.()
}

function retire(lease: Lease): void {
  lease.isRetired = true
  closeUnused(lease)
}

/**
 * Returns the provider that this process shares under a name. In development, the newest source replaces the one
 * before: a module was edited. In production, another source is a copy of the first one.
 */
export function shareProvider(name: string, source: OptionsSource, fetchOptions: FetchOptions): SharedProvider {
  const all = globalThis as { [key]?: Map<string, SharedProvider> }
  all[key] ??= new Map()
  const known = all[key].get(name)
  if (known === undefined) {
    const shared = { source, fetchOptions, lease: undefined, storage: undefined, timer: undefined }
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
  const provider = open(shared)
  const lease: Lease = {
    provider,
    fetch: provider.then((opened) => fetchHandler(opened, fetchOptions)),
    holders: 0,
    isRetired: false,
    isLent: false,
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
    closeUnused(lease)
  }
}

/**
 * Returns a function that refuses a provider which has the name of another one. A source that is not the shared one is usually a
 * copy of it, or the one before an edit; its options are read once, and their storage is closed.
 */
export function createComparison(name: string, shared: SharedProvider, source: OptionsSource) {
  let known: Promise<string> | undefined
  async function read(): Promise<string> {
    const options = await source(refuseEarlyUse)
    // A host that keeps the storage outside of the function has one for all copies.
    if (options.storage !== shared.storage) await dispose(options)
    return options.issuer
  }
  function issuerOf(): Promise<string> {
    known ??= read()
    known.catch(() => {
      known = undefined
    })
    return known
  }
  return async ({ provider }: Lease): Promise<void> => {
    if (shared.source === source) return
    const { issuer } = await provider
    const ownIssuer = await issuerOf()
    if (issuer === ownIssuer) return
    throw new TypeError(
      `handlers(): ${issuer} and ${ownIssuer} have the name ${name}; name one of them: handlers(options, { name: 'staff' })`,
    )
  }
}
