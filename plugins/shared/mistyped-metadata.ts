import type { JsonObject } from '@grantry/core'
import { stringsIn } from './self-described.ts'

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextList = (value: unknown): boolean => Array.isArray(value) && stringsIn(value).length === value.length

/**
 * Names that limit what a client can do. A value of another type is refused, because ignoring it would drop the limit.
 */
const narrowing: readonly (readonly [name: string, is: (value: unknown) => boolean, type: string])[] = [
  ['scope', isText, 'a string'],
  ['token_endpoint_auth_method', isText, 'a string'],
  ['token_endpoint_auth_methods_supported', isTextList, 'an array of strings'],
]

/** Returns what is wrong with the type of a member that narrows a client; `undefined` if nothing is. */
export function mistypedProblem(metadata: JsonObject): string | undefined {
  const mistyped = narrowing.find(([name, is]) => metadata[name] !== undefined && !is(metadata[name]))
  return mistyped && `${mistyped[0]} must be ${mistyped[2]}`
}
