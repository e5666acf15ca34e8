import type { RunningNodeServer, TlsSettings } from './http-bridge/index.ts'
import type { ServeOptions } from './http-bridge/portable.ts'
import { assertAwaited, type Servable } from './servable.ts'

export type { TlsSettings } from './http-bridge/index.ts'

/** Options of `serve()` with TLS. */
export interface TlsOptions {
  /** Serves HTTPS. Default: HTTP. */
  readonly tls?: TlsSettings | undefined
  /** Maximum number of open connections with `tls`; default 10,000. Further connections are closed. */
  readonly maxConnections?: number | undefined
}

/** A listening server with TLS. */
export type RunningTlsServer = RunningNodeServer

/**
 * Serves a provider on Bun or Deno with TLS. Their own servers do not pass on the certificates of clients, and cannot
 * replace their own, so this uses the server for Node.js. It is loaded on demand.
 */
export async function serveTls(provider: Servable, options: ServeOptions & TlsOptions): Promise<RunningTlsServer> {
  assertAwaited(provider)
  const { serve } = await import('./http-bridge/index.ts')
  const { issuer = 'https://localhost' } = provider as { readonly issuer?: string }
  return serve(new URL(issuer).origin, provider.fetch, options)
}
