import { OAuthError } from '../errors/oauth-error.ts'
import type { Json, JsonObject } from '../types.ts'

/** How deeply arrays and objects can be nested. Deeper values would overflow the stack of recursive code. */
const maxDepth = 20

const malformed = (reason: string): OAuthError =>
  new OAuthError('invalid_request', 'The body is not a valid JSON object', { reason })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause: the message of a SyntaxError contains a part of the text, which can be a secret.
    throw malformed('malformed_json')
  }
}

/** Refuses values that are nested too deeply, and the member `__proto__`, which could change the prototype of a copy. */
function assertPlain(value: Json, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw malformed('json_too_deep')
  if (Object.hasOwn(value, '__proto__')) throw malformed('json_member_forbidden')
  for (const member of Object.values(value)) assertPlain(member, depth + 1)
}

/**
 * Parses the text of a JSON object.
 *
 * @throws OAuthError `invalid_request` if the text is not a JSON object, or is nested more than 20 levels deep.
 */
export function parseJsonObject(text: string): JsonObject {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('malformed_json')
  assertPlain(value as JsonObject, 1)
  return value as JsonObject
}
