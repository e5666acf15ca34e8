import * as v from 'valibot'
import { isExact } from '../exact-numbers.ts'
import { isJsonObject } from '../objects.ts'
import type { Json, JsonObject } from '../types.ts'

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
export const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every(isString)
