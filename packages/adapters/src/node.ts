import type { Runtime } from '@grantry/core'
import {
  LazyResponse,
  type NodeServeOptions,
  type RunningNodeServer,
  serve as serveHandler,
} from './http-bridge/index.ts'
import { nativeCrypto } from './native-crypto.ts'
import { originOf, type Servable } from './node-middleware.ts'

export type { CertificateFormat, CertificateHeader, Listener, TlsSettings } from './http-bridge/index.ts'
export { checkTls } from './http-bridge/index.ts'
export {
  fastifyHook,
  koaMiddleware,
  type Middleware,
  type Mountable,
  type NodeConnection,
  type NodeOptions,
  nodeListener,
  nodeMiddleware,
  nodeRoute,
  type Servable,
} from './node-middleware.ts'

/** The limits, the address and the port. */
export type ServeOptions = NodeServeOptions

/** A listening server. */
export type RunningServer = RunningNodeServer

/**
 * A faster runtime for a provider on Node.js, with identical results: hashes, base64url, encryption and signatures from
 * `node:crypto`, without a hop to the thread pool, and a `Response` that the server writes unchanged.
 *
 * @example
 * createProvider({ ...options, runtime: nodeRuntime })
 */
export const nodeRuntime: Partial<Runtime> = Object.freeze({
  ...nativeCrypto,
  Response: LazyResponse as unknown as Runtime['Response'],
})

/**
 * Serves a provider on Node.js.
 *
 * @throws TypeError when a limit is invalid; the system's error when it cannot listen on the port.
 * @example
 * const { port, close } = await serve(provider, { port: 8484 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer> {
  return serveHandler(originOf(provider), provider.fetch, options)
}
