import type { Socket } from 'node:net'
import { lingeringClose } from './last-response.ts'
import { latestResponse, pendingResponse } from './pipelining.ts'

const statuses: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
}

/**
 * Handles `clientError`: bytes that are not valid HTTP. Complete earlier requests get their response first; then the
 * connection closes.
 *
 * @returns the status of the error response, or `undefined` when none was sent
 */
export function rejectMalformed(error: Error & { readonly code?: string }, socket: Socket): number | undefined {
  const pending = pendingResponse(socket)
  if (pending !== undefined) {
    pending.shouldKeepAlive = false
    pending.once('finish', () => socket.destroySoon())
    return undefined
  }
  socket.destroySoon = lingeringClose
  if (!socket.writable || latestResponse(socket)?.headersSent) {
    socket.destroySoon()
    return undefined
  }
  const body = '{"error":"invalid_request","error_description":"The request is not valid HTTP"}'
  const status = statuses[error.code ?? ''] ?? '400 Bad Request'
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    'cache-control: no-store',
    'pragma: no-cache',
    'x-content-type-options: nosniff',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
  return Number.parseInt(status, 10)
}
