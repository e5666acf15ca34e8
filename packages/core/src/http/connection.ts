import type { TraceContext } from '../events/trace-context.ts'

/** The certificate with which a client has proved its key in the TLS handshake. */
export interface ClientCertificate {
  /** The base64 text of its DER. */
  readonly der: string
  /** Whether the TLS server has verified the chain of the certificate. Otherwise, its names prove nothing. */
  readonly verified: boolean
}

/** What an adapter knows about the connection that the `Request` does not contain. */
export interface ConnectionInfo {
  /** The address of the caller. Set it only if the adapter trusts its source. */
  readonly clientAddress?: string | undefined
  /** The certificate of the caller. Set it only if the adapter trusts its source. Events do not contain it. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The span that the host's tracer has opened for this request. It overrides the `traceparent` header. */
  readonly traceContext?: TraceContext | undefined
}

/** Handles a request. Never rejects: every failure becomes a `Response`. */
export type Handler = (request: Request, connection?: ConnectionInfo) => Promise<Response>
