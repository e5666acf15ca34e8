import { decodeUtf8 } from '../encoding.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { parseParameters, type RequestParameters } from './parameters.ts'

const formType = 'application/x-www-form-urlencoded'

function requireForm(request: Request): void {
  const type = request.headers.get('content-type') ?? ''
  const semicolon = type.indexOf(';')
  const essence = (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase()
  if (essence !== formType) {
    throw new OAuthError('invalid_request', `The body must be ${formType}`, { reason: 'media_type', status: 415 })
  }
}

const tooLarge = (): OAuthError =>
  new OAuthError('invalid_request', 'The body is too large', { reason: 'body_too_large', status: 413 })

/** The first `length` bytes in a buffer that has room for `needed`: of twice the size, but no larger than `limit`. */
function grown(bytes: Uint8Array, length: number, needed: number, limit: number): Uint8Array {
  const roomy = new Uint8Array(Math.max(needed, Math.min(limit, Math.max(1024, bytes.byteLength * 2))))
  roomy.set(bytes.subarray(0, length))
  return roomy
}

/**
 * Counts the bytes while it reads, because `Content-Length` is only a claim. Copies the pieces into one buffer: kept as they are, 60,000 pieces of one byte
 * take several megabytes.
 */
async function readBody(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = body.getReader()
  let read = await reader.read()
  // Most bodies arrive in one piece, which needs no copy.
  let bytes = read.value ?? new Uint8Array()
  let length = bytes.byteLength
  // The reader is left open: cancelling it makes Node.js cut the connection before the caller has read the 413.
  while (!read.done && length <= limit) {
    read = await reader.read()
    const piece = read.value
    if (piece === undefined) continue
    const needed = length + piece.byteLength
    if (needed > limit) throw tooLarge()
    if (needed > bytes.byteLength) bytes = grown(bytes, length, needed, limit)
    bytes.set(piece, length)
    length = needed
  }
  if (length > limit) throw tooLarge()
  return bytes.byteLength === length ? bytes : bytes.subarray(0, length)
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge()
  try {
    return request.body === null ? new Uint8Array() : await readBody(request.body, limit)
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause
    throw new OAuthError('invalid_request', 'The body could not be read', { reason: 'body_unreadable', cause })
  }
}

/** The bytes of a form body: media type and size are judged, its content is not yet. */
export async function readForm(request: Request, limit: number): Promise<Uint8Array> {
  requireForm(request)
  return readBytes(request, limit)
}

/**
 * Refuses a body that has no media type. Only reading tells whether there is one: some runtimes give every POST a stream.
 *
 * @throws OAuthError `invalid_request` (415) when there is at least one byte.
 */
export async function refuseBody(request: Request, limit: number): Promise<void> {
  if ((await readBytes(request, limit)).byteLength > 0) requireForm(request)
}

export function parseForm(bytes: Uint8Array): RequestParameters {
  const text = decodeUtf8(bytes)
  if (text === undefined) {
    throw new OAuthError('invalid_request', 'The body is not UTF-8', { reason: 'malformed_encoding' })
  }
  return parseParameters(text)
}

function readQuery(request: Request, limit: number): string {
  const { url } = request
  const start = url.indexOf('?')
  if (start < 0) return ''
  const hash = url.indexOf('#', start)
  const query = url.slice(start + 1, hash < 0 ? undefined : hash)
  if (query.length > limit) {
    throw new OAuthError('invalid_request', 'The query is too long', { reason: 'query_too_long', status: 414 })
  }
  return query
}

/** The form for POST, the query for GET and HEAD; never both. */
export async function readParameters(request: Request, limit: number): Promise<RequestParameters> {
  return request.method === 'POST'
    ? parseForm(await readForm(request, limit))
    : parseParameters(readQuery(request, limit))
}
