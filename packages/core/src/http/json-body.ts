import { OAuthError } from '../errors/oauth-error.ts'
import { inexactNumber, isExact, parseJsonText } from '../json.ts'
import type { Json, JsonObject } from '../types.ts'
import { readBytes, textOf } from './read-parameters.ts'

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
