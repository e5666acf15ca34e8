import * as v from 'valibot'
import type { Json, JsonObject } from './types.ts'

/** Whether the value has members: an object or an array. */
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Whether the value is what JSON calls an object: no array, and not `null`. Its members are not checked. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value)

/** Deeper values are no JSON that this project accepts. */
const maxSearchDepth = 200

/** Whether JSON keeps a number as it was written: not rounded, and not infinite, which becomes `null`. */
export const isExact = (number: number): boolean =>
  Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER

/**
 * Returns the path of the first number that JSON does not keep exactly, such as `claims.id`; `''` if it is the value
 * itself, and `undefined` if there is none. Values of the host can have cycles.
 */
export function inexactNumberIn(value: unknown, depth = 0, seen?: Set<unknown>): string | undefined {
  if (typeof value === 'number') return isExact(value) ? undefined : ''
  if (!isObject(value) || depth > maxSearchDepth || seen?.has(value)) return undefined
  const members = value as Readonly<Record<string, unknown>>
  let searched = seen
  for (const name of Object.keys(members)) {
    const member = members[name]
    // Most members are texts: userinfo searches the claims of each request.
    if (isString(member)) continue
    searched = (searched ?? new Set()).add(value)
    const path = inexactNumberIn(member, depth + 1, searched)
    if (path === undefined) continue
    const start = Array.isArray(value) ? `[${name}]` : name
    return path === '' || path.startsWith('[') ? start + path : `${start}.${path}`
  }
  return undefined
}

/** Why a number is refused. */
export const inexactNumber =
  'is a number that JSON does not keep exactly, such as one beyond 9007199254740991 (2^53): write it as text'

/** A text, or a number as it is written. A number in a text is skipped with the text. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/gu

/** Every text that contains such a small number matches. Other texts can match, too. */
const canVanish = /\d[eE]-\d{3}|\.0{200}/u

/**
 * Whether a number, as it is written, is so small that nothing of it is left, or not all of its digits: `1e-400` would be 0.
 * Below 2^-1022, a double has fewer digits than elsewhere.
 */
export const vanishes = (literal: string): boolean =>
  Math.abs(Number(literal)) < 2 ** -1022 && /^-?[0.]*[1-9]/u.test(literal)

/** Whether a number, as it is written, is the one that JSON keeps. */
export const isKept = (literal: string): boolean => isExact(Number(literal)) && !vanishes(literal)

/** Call it for valid JSON only: in other texts, the search could take long. */
const withNumbers = (text: string, replace: (literal: string) => string): unknown =>
  JSON.parse(text.replace(textOrNumber, (literal) => (literal.startsWith('"') ? literal : replace(literal))))

/** Replaces a number that would vanish. It is infinite, so `inexactNumberIn` returns its path. */
export const vanished = '1e999'

/**
 * Parses JSON that is refused if it has a number that JSON does not keep exactly. One that would vanish is infinite in the
 * result, so that `inexactNumberIn` finds all of them.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!canVanish.test(text)) return value
  return withNumbers(text, (literal) => (vanishes(literal) ? vanished : literal))
}

/**
 * Parses JSON of another party, with the numbers that it does not keep exactly as texts, as they are written: two users with
 * neighbouring numbers of 64 bits remain two.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (inexactNumberIn(value) === undefined && !canVanish.test(text)) return value
  return withNumbers(text, (literal) => (isKept(literal) ? literal : `"${literal}"`))
}

const maxDepth = 16

/** Whether JSON can represent the value without loss. False for dates, bigints and cycles, for example. */
function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return isExact(value)
  if (typeof value !== 'object' || depth > maxDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isJson(item, depth + 1))
}

/** For values from plugins and the host. */
export const jsonSchema = v.custom<Json>((value) => isJson(value, 0))
export const jsonObjectSchema = v.custom<JsonObject>((value) => isJsonObject(value) && isJson(value, 0))

// The core's own records are checked by functions, not by valibot schemas: docs/measurements.md (42).
// The functions ignore unknown members, which a later release may add, and do not remove them.

/** A record whose members have not been checked yet. */
export type Unchecked<Value> = { readonly [Name in keyof Value]?: unknown }

export const isString = (value: unknown): value is string => typeof value === 'string'
export const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value)
export const isStringOrAbsent = (value: unknown): boolean => value === undefined || isString(value)
export const isStrings = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isString)
