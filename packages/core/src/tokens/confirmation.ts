import type { Confirmation } from '../parts/grant.ts'
import { isObject, isString } from '../records/json.ts'
import type { Json } from '../types.ts'

/** Reads a claim `cnf`. Returns `undefined` if it is malformed, or names no key. */
export function parseConfirmation(cnf: Json): Confirmation | undefined {
  const isValid = isObject(cnf) && !Array.isArray(cnf) && Object.values(cnf).every(isString)
  return isValid && Object.keys(cnf).length > 0 ? (cnf as Confirmation) : undefined
}

/** Whether a request that has proved some keys may use a token that is bound to others, or to none. */
export const isConfirmed = (required: Confirmation | undefined, proved: Confirmation | undefined): boolean =>
  required === undefined || Object.entries(required).every(([member, key]) => proved?.[member] === key)
