/** A request that was refused without calling a handler. */
export interface RefusedRequest {
  readonly status: number
  /** Empty when the bytes were not valid HTTP, and for a connection beyond `maxConnections`. */
  readonly method: string
  readonly clientAddress: string | undefined
}

/** A setting that contradicts the requests that arrive. */
export interface AdapterWarning {
  readonly reason: 'forwarding_headers_ignored'
  /** The problem and the setting that fixes it, in one or two sentences. */
  readonly message: string
  /** The address of the peer that sent the header: your proxy, unless a client sent it. */
  readonly clientAddress: string | undefined
}

/** Callbacks for failures and refusals. If one throws or rejects, `onError` gets the error. Responses do not change. */
export interface CallbackOptions {
  /**
   * Called for every request that is refused without calling a handler: a malformed head, a target that is not a path,
   * or too many requests, bodies or connections.
   */
  readonly onRefused?: ((request: RefusedRequest) => void) | undefined
  /**
   * Called when a handler throws, when its response fails while it is sent, or when another callback throws. The client
   * gets 500 without details, or a closed connection if the response has begun. A client that disconnects is not an
   * error. Default: `console.error`. A provider reports its own failures as events (`observe`).
   */
  readonly onError?: ((error: unknown, request?: Request) => void) | undefined
  /** Called once, when a forwarding header arrives and `trustedProxies` is 0. Default: `console.warn` its message. */
  readonly onWarning?: ((warning: AdapterWarning) => void) | undefined
}

/** Returns a header value in the form of the runtime. */
type HeaderOf = (name: string) => unknown

/** The same callbacks, which never throw. */
export interface Callbacks {
  refused(request: RefusedRequest): void
  error(error: unknown, request?: Request): void
  /** Warns about the first request whose forwarding headers are ignored. */
  readonly checkForwarding: ((headerOf: HeaderOf, clientAddress: string | undefined) => void) | undefined
}

const forwardingHeaders = ['X-Forwarded-For', 'Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto'] as const
const lowerCase = forwardingHeaders.map((name) => [name, name.toLowerCase()] as const)

function messageFor(header: string): string {
  const also = header === 'X-Forwarded-For' ? '' : ' make it send X-Forwarded-For and'
  return `A request has the header ${header}, but trustedProxies is 0, so all clients behind a proxy share its address, and one client can exhaust the rate limits of the others. If your own proxy sends the header,${also} set "trustedProxies": 1 (the number of your proxies)`
}

/** Calls a callback. Its failure must not fail the request or end the process. */
function call<T extends unknown[]>(callback: (...args: T) => unknown, args: T, onFailure: (error: unknown) => void) {
  try {
    const outcome = callback(...args)
    if (typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function') {
      Promise.resolve(outcome).catch(onFailure)
    }
  } catch (error) {
    onFailure(error)
  }
}

export function createCallbacks(options: CallbackOptions, trustedProxies: number): Callbacks {
  const {
    onRefused,
    onError = (error: unknown) => console.error(error),
    onWarning = ({ message }: AdapterWarning) => console.warn(message),
  } = options
  const error = (failure: unknown, request?: Request): void =>
    call(onError, request === undefined ? [failure] : [failure, request], (second) => console.error(second, failure))
  let warned = false
  return {
    refused(request) {
      if (onRefused !== undefined) call(onRefused, [request], error)
    },
    error,
    checkForwarding:
      trustedProxies > 0
        ? undefined
        : (headerOf, clientAddress) => {
            if (warned) return
            const header = lowerCase.find(([, name]) => (headerOf(name) ?? undefined) !== undefined)
            if (header === undefined) return
            warned = true
            const message = messageFor(header[0])
            call(onWarning, [{ reason: 'forwarding_headers_ignored', message, clientAddress }], error)
          },
  }
}
