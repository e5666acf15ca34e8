/** A response of `node:https`. */
export interface IncomingMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  on(event: 'error', listener: (error: Error) => void): void
  destroy(): void
}

interface OutgoingRequest {
  on(event: 'error', listener: (error: Error) => void): void
  end(body?: string): void
}

/** What `lookup` passes to the socket. */
export interface LookupAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Resolves the name of a host for a socket. */
export type Lookup = (
  name: string,
  options: { readonly all?: boolean | undefined },
  callback: (error: Error | null, address?: string | readonly LookupAddress[], family?: 4 | 6) => void,
) => void

export interface RequestOptions {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly agent: false
  readonly lookup: Lookup
  readonly signal?: AbortSignal | null | undefined
  readonly ca?: string | undefined
}

interface Resolver {
  resolve4(name: string): Promise<readonly string[]>
  resolve6(name: string): Promise<readonly string[]>
}

/** The modules of Node.js that send a request to a chosen address, as Bun and Deno have them too. */
export interface NodeNetwork {
  readonly https: {
    request(url: string, options: RequestOptions, onResponse: (message: IncomingMessage) => void): OutgoingRequest
  }
  readonly dns: {
    readonly promises: {
      readonly Resolver: new (options: { readonly timeout: number; readonly tries: number }) => Resolver
    }
  }
}

interface Platform {
  readonly process?: { readonly getBuiltinModule?: ((id: string) => unknown) | undefined } | undefined
  readonly WebSocketPair?: unknown
}

function networkOf({ process, WebSocketPair }: Platform): NodeNetwork | undefined {
  if (process?.getBuiltinModule === undefined || WebSocketPair !== undefined) return undefined
  return { https: process.getBuiltinModule('node:https'), dns: process.getBuiltinModule('node:dns') } as NodeNetwork
}

/**
 * Returns the modules; `undefined` on platforms without sockets. A function of the platform and not an import, which a
 * bundle for Workers could not resolve. Workers have `WebSocketPair`; with the flag `nodejs_compat`, they have modules of
 * these names, which ignore `lookup`.
 */
export const nodeNetwork = (): NodeNetwork | undefined => networkOf(globalThis as Platform)
