import type { Handler, Runtime } from '@grantry/core'

/** What the server needs of an adapter, whichever it is. */
export interface Adapter {
  /** Parts that are faster there than those of the web. */
  readonly runtime: Partial<Runtime>
  serve(
    provider: { readonly issuer: string; readonly fetch: Handler },
    options: AdapterReports &
      AdapterLimits & { readonly host: string; readonly port: number; readonly trustedProxies: number },
  ): Promise<Listening>
}

/** Absent: the adapter's defaults. */
export interface AdapterLimits {
  readonly maxRequests?: number
  readonly maxBodies?: number
  /** Only the adapter of Node.js can limit connections. */
  readonly maxConnections?: number
}

/** Callbacks for what callers do not see. */
export interface AdapterReports {
  readonly onRefused?: (request: RefusedRequest) => void
  readonly onError?: (error: unknown) => void
  readonly onWarning?: (warning: AdapterWarning) => void
}

/** A setting that does not fit what arrives. */
export interface AdapterWarning {
  readonly reason: string
  readonly message: string
  readonly clientAddress: string | undefined
}

/** A request that the adapter refused without asking a handler. */
export interface RefusedRequest {
  readonly status: number
  readonly method: string
  readonly clientAddress: string | undefined
}

/** A server that listens. */
export interface Listening {
  readonly host: string
  readonly port: number
  /** Lets open requests end for at most so many seconds. */
  close(seconds?: number): Promise<void>
}

/** The adapter of the runtime that runs this; only it is loaded. */
export async function adapterOfThisRuntime(): Promise<Adapter> {
  if ('Bun' in globalThis) {
    const { bunRuntime: runtime, serve } = await import('@grantry/adapters/bun')
    return { runtime, serve }
  }
  if ('Deno' in globalThis) {
    const { denoRuntime: runtime, serve } = await import('@grantry/adapters/deno')
    return { runtime, serve }
  }
  const { nodeRuntime: runtime, serve } = await import('@grantry/adapters/node')
  return { runtime, serve }
}
