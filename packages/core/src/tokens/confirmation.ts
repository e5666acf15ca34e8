import type { Confirmation } from '../plugin/confirmation.ts'
import { isObject } from '../records/schemas.ts'
import type { Json } from '../types.ts'

/**
 * Returns the keys that a token is bound to; `undefined` if it is not bound. A malformed `cnf` counts as a key that
 * no request can prove.
 */
export function confirmationIn({ cnf }: { readonly cnf?: Json | undefined }): Confirmation | undefined {
  if (cnf === undefined) return undefined
  const isValid = isObject(cnf) && !Array.isArray(cnf) && Object.values(cnf).every((key) => typeof key === 'string')
  return isValid && Object.keys(cnf).length > 0 ? (cnf as Confirmation) : { malformed: '' }
}

/** Whether a request that has proved some keys may use a token that is bound to others, or to none. */
export const isConfirmed = (required: Confirmation | undefined, proved: Confirmation | undefined): boolean =>
  required === undefined || Object.entries(required).every(([member, key]) => proved?.[member] === key)
