import type { CertificateHeader, TlsSettings } from '@grantry/adapters/node'
import type { Handler, Runtime } from '@grantry/core'

/** The part of an adapter that the server uses. */
export interface Adapter {
  /** Native replacements for the slower Web API parts. */
  readonly runtime: Partial<Runtime>
  /** @throws an error if a server could not use the files */
  checkTls(tls: TlsSettings): void
  serve(
    provider: { readonly issuer: string; readonly fetch: Handler },
    options: AdapterReports &
      AdapterLimits & { readonly host: string; readonly port: number; readonly trustedProxies: number },
  ): Promise<Listening>
}

/** Overrides of the adapter's defaults. */
export interface AdapterLimits {
  readonly maxRequests?: number
  readonly maxBodies?: number
  /** On Bun and Deno only with `tls`. */
  readonly maxConnections?: number
  readonly idleTimeout?: number
  readonly clientCertificate?: CertificateHeader
  readonly tls?: TlsSettings
}

/** Callbacks for the host. Callers do not see what they report. */
export interface AdapterReports {
  readonly onRefused?: (request: RefusedRequest) => void
  readonly onError?: (error: unknown) => void
  readonly onWarning?: (warning: AdapterWarning) => void
}

/** A setting that does not match the incoming requests. */
export interface AdapterWarning {
  readonly reason: string
  readonly message: string
  readonly clientAddress: string | undefined
}

/** A request that the adapter refused before it reached a handler. */
export interface RefusedRequest {
  readonly status: number
  readonly method: string
  readonly clientAddress: string | undefined
}

/** A listening server. */
export interface Listening {
  readonly host: string
  readonly port: number
  /** Uses other files for new connections; absent on Bun and Deno without TLS. */
  updateTls?(tls: TlsSettings): void
  /** Stops accepting requests and waits at most this many seconds for open ones. */
  close(seconds?: number): Promise<void>
}

/** Returns the adapter of the current runtime, and loads no other. */
export async function adapterOfThisRuntime(): Promise<Adapter> {
  if ('Bun' in globalThis) {
    const { bunRuntime: runtime, serve, checkTls } = await import('@grantry/adapters/bun')
    return { runtime, serve, checkTls }
  }
  if ('Deno' in globalThis) {
    const { denoRuntime: runtime, serve, checkTls } = await import('@grantry/adapters/deno')
    return { runtime, serve, checkTls }
  }
  const { nodeRuntime: runtime, serve, checkTls } = await import('@grantry/adapters/node')
  return { runtime, serve, checkTls }
}
