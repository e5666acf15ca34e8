import type { Handler, Runtime } from '@grantry/core'

/** What the server needs of an adapter, whichever it is. */
export interface Adapter {
  /** Parts that are faster there than those of the web. */
  readonly runtime: Partial<Runtime>
  serve(
    provider: { readonly issuer: string; readonly fetch: Handler },
    options: {
      readonly host: string
      readonly port: number
      readonly trustedProxies: number
      readonly onRefused?: (request: RefusedRequest) => void
    },
  ): Promise<Listening>
}

/** What an adapter has refused by itself. */
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
