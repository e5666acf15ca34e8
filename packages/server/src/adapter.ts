import type { Handler } from '@grantry/core'

/** What the server needs of an adapter, whichever it is. */
interface Adapter {
  serve(
    provider: { readonly issuer: string; readonly fetch: Handler },
    options: { readonly host: string; readonly port: number; readonly trustedProxies: number },
  ): Promise<Listening>
}

/** A server that listens. */
export interface Listening {
  readonly host: string
  readonly port: number
  /** Lets open requests end for at most so many seconds. */
  close(seconds?: number): Promise<void>
}

/** The adapter of the runtime that runs this; only it is loaded. */
export function adapterOfThisRuntime(): Promise<Adapter> {
  if ('Bun' in globalThis) return import('@grantry/adapters/bun')
  if ('Deno' in globalThis) return import('@grantry/adapters/deno')
  return import('@grantry/adapters/node')
}
