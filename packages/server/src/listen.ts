import type { Handler } from '@grantry/core'
import type { Adapter, Listening } from './adapter.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import type { CheckedConfiguration } from './configuration/schema.ts'
import { openTls } from './configuration/tls.ts'
import { errorInFile, listenFailure } from './error-message.ts'
import { localPort } from './local-address.ts'

const defaultPort = 8484

/** Returns the port to listen on when none is given. */
export function portOf(issuer: string | undefined): number {
  if (issuer === undefined || !URL.canParse(issuer)) return defaultPort
  // A loopback issuer names the port to listen on. Any other issuer is behind a proxy.
  return new URL(issuer).port === '' ? defaultPort : (localPort(issuer) ?? defaultPort)
}

/** Reads the files of `tls`, before anything else starts. */
export function filesOfTls(loaded: LoadedConfiguration | undefined, adapter: Adapter): ReturnType<typeof openTls> {
  if (loaded === undefined) return {}
  try {
    return openTls(loaded, adapter)
  } catch (cause) {
    throw errorInFile(cause, loaded.file)
  }
}

/** Creates a handler whose requests wait until the one of the server is ready. */
export function createWaitingHandler(): { readonly fetch: Handler; ready(handler: Handler): void } {
  let serverHandler: Handler | undefined
  let resolveOwn: (handler: Handler) => void = () => {}
  const waiting = new Promise<Handler>((resolve) => {
    resolveOwn = resolve
  })
  return {
    fetch: (request, connection) =>
      serverHandler === undefined
        ? waiting.then((handler) => handler(request, connection))
        : serverHandler(request, connection),
    ready(handler) {
      serverHandler = handler
      resolveOwn(handler)
    },
  }
}

/** Listens on the host and port. @throws TypeError with a one-line message if that fails. */
export async function listen(
  adapter: Adapter,
  server: Parameters<Adapter['serve']>[0],
  options: Parameters<Adapter['serve']>[1] & { readonly host: string; readonly port: number },
  { maxRequests, maxBodies, maxConnections, idleTimeout, clientCertificate }: Partial<CheckedConfiguration>,
): Promise<Listening> {
  try {
    return await adapter.serve(server, {
      ...options,
      ...(maxRequests !== undefined && { maxRequests }),
      ...(maxBodies !== undefined && { maxBodies }),
      ...(maxConnections !== undefined && { maxConnections }),
      ...(idleTimeout !== undefined && { idleTimeout }),
      ...(clientCertificate !== undefined && { clientCertificate }),
    })
  } catch (cause) {
    throw listenFailure(cause, options.host, options.port)
  }
}
