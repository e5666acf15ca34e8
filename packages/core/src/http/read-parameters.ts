import { OAuthError } from '../errors/oauth-error.ts'
import { inexactNumber, isExact, parseJsonText } from '../json.ts'
import { pathOf } from '../parse-url.ts'
import { decodeUtf8 } from '../runtime.ts'
import type { Json, JsonObject } from '../types.ts'
import { parseParameters, type RequestParameters } from './parameters.ts'

const formType = 'application/x-www-form-urlencoded'

function mediaTypeOf(request: Request): string {
  const type = request.headers.get('content-type') ?? ''
  const semicolon = type.indexOf(';')
  return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase()
}

function requireType(request: Request, ...expected: readonly string[]): void {
  if (!expected.includes(mediaTypeOf(request))) {
    throw new OAuthError('invalid_request', `The body must be ${expected.join(' or ')}`, {
      reason: 'media_type',
      status: 415,
    })
  }
}

const tooLarge = (): OAuthError =>
  new OAuthError('invalid_request', 'The body is too large', { reason: 'body_too_large', status: 413 })

/**
 * Copies the first `length` bytes to a larger buffer: twice the size and at least `needed`, but no larger than `limit`.
 */
function grow(bytes: Uint8Array, length: number, needed: number, limit: number): Uint8Array {
  const larger = new Uint8Array(Math.max(needed, Math.min(limit, Math.max(1024, bytes.byteLength * 2))))
  larger.set(bytes.subarray(0, length))
  return larger
}

/**
 * Reads the body and counts its bytes, because `Content-Length` cannot be trusted. Copies the chunks to one buffer:
 * 60,000 separate chunks of one byte would take several megabytes.
 */
async function readBody(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = body.getReader()
  let read = await reader.read()
  // Most bodies arrive in one chunk, which needs no copy.
  let bytes = read.value ?? new Uint8Array()
  let length = bytes.byteLength
  // The reader is not cancelled: Node.js would close the connection before the caller has read the 413.
  while (!read.done && length <= limit) {
    read = await reader.read()
    const chunk = read.value
    if (chunk === undefined) continue
    const needed = length + chunk.byteLength
    if (needed > limit) throw tooLarge()
    if (needed > bytes.byteLength) bytes = grow(bytes, length, needed, limit)
    bytes.set(chunk, length)
    length = needed
  }
  if (length > limit) throw tooLarge()
  return bytes.byteLength === length ? bytes : bytes.subarray(0, length)
}

/** @param types the media types that are accepted; none for any. */
async function readBytes(request: Request, limit: number, ...types: readonly string[]): Promise<Uint8Array> {
  if (types.length > 0) requireType(request, ...types)
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge()
  try {
    return request.body === null ? new Uint8Array() : await readBody(request.body, limit)
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause
    throw new OAuthError('invalid_request', 'The body could not be read', { reason: 'body_unreadable', cause })
  }
}

/** Reads a form body. Checks the media type and the size, but not the content. */
export const readForm = (request: Request, limit: number): Promise<Uint8Array> => readBytes(request, limit, formType)

/**
 * Reads a form body; `undefined` if the body is empty and has another or no media type. It has to read the body, because
 * some runtimes give every POST a stream.
 *
 * @throws OAuthError `invalid_request` (415) if the body has at least one byte and is not a form.
 */
export async function readOptionalForm(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const bytes = await readBytes(request, limit)
  if (mediaTypeOf(request) === formType) return bytes
  if (bytes.byteLength > 0) requireType(request, formType)
  return undefined
}

export function textOf(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  throw new OAuthError('invalid_request', 'The body is not UTF-8', { reason: 'malformed_encoding' })
}

export const parseForm = (bytes: Uint8Array): RequestParameters => parseParameters(textOf(bytes))

/** Whether requests with this method have their parameters in the body, not in the query. */
export const hasBody = ({ method }: Request): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

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

export const readQueryParameters = (request: Request, limit: number): RequestParameters =>
  parseParameters(readQuery(request, limit))

/** Reads the parameters from the form (POST) or from the query (GET and HEAD), never from both. */
export async function readParameters(request: Request, limit: number): Promise<RequestParameters> {
  return request.method === 'POST' ? parseForm(await readForm(request, limit)) : readQueryParameters(request, limit)
}

/** Characters of a path below that of an endpoint. */
const maxLength = 2000

const unknown = (): OAuthError =>
  new OAuthError('invalid_request', 'There is no such resource', { reason: 'path_unknown', status: 404 })

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const unusable = /^\.{0,2}$|[\0-\x1F\x7F]/u

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw unknown()
  }
}

/**
 * Creates the function that returns the decoded segments of the path of a URL below `base`. An encoded slash is part of its
 * segment. Each resource has one path: a slash at the end, two slashes, and dot segments lead to none, however they are
 * encoded.
 *
 * @param base the path of the endpoint
 * @throws OAuthError 404, also for a malformed encoding
 */
export const createSegmentsOf =
  (base = ''): ((url: string) => readonly string[]) =>
  (url) => {
    const path = pathOf(url)
    if (path === base) return []
    if (!path.startsWith(`${base}/`) || path.length - base.length > maxLength) throw unknown()
    const encoded = path.slice(base.length + 1).split('/')
    const segments = encoded.map(decode)
    if (segments.some((segment) => unusable.test(segment))) throw unknown()
    return segments
  }

/** How deeply arrays and objects can be nested. Deeper values would overflow the stack of recursive code. */
const maxJsonDepth = 20

const malformedJson = (reason: string): OAuthError =>
  new OAuthError('invalid_request', 'The body is not a valid JSON object', { reason })

function parsedJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    // Without the cause: the message of a SyntaxError contains a part of the text, which can be a secret.
    throw malformedJson('malformed_json')
  }
}

/** Refuses values that are nested too deeply, numbers that JSON does not keep, and the member `__proto__`, which could change the prototype of a copy. */
function assertPlain(value: Json, depth: number): void {
  if (typeof value === 'number' && !isExact(value))
    throw new OAuthError('invalid_request', `A member of the body ${inexactNumber}`, { reason: 'json_number_inexact' })
  if (typeof value !== 'object' || value === null) return
  if (depth > maxJsonDepth) throw malformedJson('json_too_deep')
  if (Object.hasOwn(value, '__proto__')) throw malformedJson('json_member_forbidden')
  for (const member of Object.values(value)) assertPlain(member, depth + 1)
}

/**
 * Parses the text of a JSON object.
 *
 * @throws OAuthError `invalid_request` if the text is not a JSON object, is nested more than 20 levels deep, or has a
 * number that JSON does not keep exactly.
 */
export function parseJsonObject(text: string): JsonObject {
  const value = parsedJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformedJson('malformed_json')
  assertPlain(value as JsonObject, 1)
  return value as JsonObject
}

const jsonType = 'application/json'
/** RFC 7396. */
const mergePatchType = 'application/merge-patch+json'

/** How an endpoint with JSON bodies reads them. Only plugins have such endpoints. */
export const jsonBody = {
  /** Reads a JSON body. Checks the media type and the size, but not the content. */
  read(request: Request, limit: number): Promise<Uint8Array> {
    return request.method === 'PATCH'
      ? readBytes(request, limit, jsonType, mergePatchType)
      : readBytes(request, limit, jsonType)
  },
  /** Parses a JSON body. @throws OAuthError `invalid_request` if it is not a JSON object within the limits. */
  parse: (bytes: Uint8Array): JsonObject => parseJsonObject(textOf(bytes)),
}
