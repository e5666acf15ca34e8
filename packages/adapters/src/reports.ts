/** A request that the adapter refused without asking a handler. */
export interface RefusedRequest {
  readonly status: number
  /** Empty where the bytes were not HTTP, and for a connection beyond `maxConnections`. */
  readonly method: string
  readonly clientAddress: string | undefined
}

/** A setting that does not fit what arrives. */
export interface AdapterWarning {
  readonly reason: 'forwarding_headers_ignored'
  /** What to do about it, in one or two sentences. */
  readonly message: string
  /** The address of the peer that sent the header: your proxy, unless a client sent it. */
  readonly clientAddress: string | undefined
}

/** Callbacks for what callers do not see. One that throws or rejects is reported to `onError`, and the response does not change. */
export interface ReportOptions {
  /** Called for every request that the adapter refuses by itself: a malformed head, a target that is not a path, too many requests, bodies or connections. */
  readonly onRefused?: (request: RefusedRequest) => void
  /**
   * Called when a handler throws, its response fails while it is sent, or another callback throws. The caller gets 500 without details, or a cut connection when the
   * response has begun. A client that disconnects is not an error. Default: `console.error`. The provider's own failures are events (`observe`).
   */
  readonly onError?: (error: unknown, request?: Request) => void
  /** Called once, when forwarding headers arrive while `trustedProxies` is 0. Default: `console.warn` with the message. */
  readonly onWarning?: (warning: AdapterWarning) => void
}

/** Header values as the runtime holds them. */
type HeaderOf = (name: string) => unknown

/** The same callbacks, which never throw. */
export interface Reports {
  refused(request: RefusedRequest): void
  error(error: unknown, request?: Request): void
  /** Warns at the first request whose forwarding headers are ignored. */
  readonly checkForwarding: ((headerOf: HeaderOf, clientAddress: string | undefined) => void) | undefined
}

const forwardingHeaders = ['X-Forwarded-For', 'Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Proto'] as const
const lowerCase = forwardingHeaders.map((name) => [name, name.toLowerCase()] as const)

function messageFor(header: string): string {
  const also = header === 'X-Forwarded-For' ? '' : ', let it send X-Forwarded-For,'
  return `A request arrived with the header ${header}, but trustedProxies is 0: all clients behind a proxy then share its address, and one of them can use up the limits of all. If the header comes from your own proxy${also} set "trustedProxies": 1 (the number of your proxies)`
}

/** Calls the host's code, which must not fail a request or end the process. */
function call<T extends unknown[]>(callback: (...given: T) => unknown, given: T, onFailure: (error: unknown) => void) {
  try {
    const outcome = callback(...given)
    if (typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function') {
      Promise.resolve(outcome).catch(onFailure)
    }
  } catch (error) {
    onFailure(error)
  }
}

export function createReports(options: ReportOptions, trustedProxies: number): Reports {
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
            const found = lowerCase.find(([, name]) => (headerOf(name) ?? undefined) !== undefined)
            if (found === undefined) return
            warned = true
            const message = messageFor(found[0])
            call(onWarning, [{ reason: 'forwarding_headers_ignored', message, clientAddress }], error)
          },
  }
}
