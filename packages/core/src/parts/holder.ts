import { isObject } from '../objects.ts'
import { isString } from '../records/json.ts'
import type { Confirmation } from './grant.ts'

// Who may use what was issued: the client that it was issued to, with the keys that it is bound to. The only place that
// compares them, so that a mismatch has the same reason everywhere.

/** Reads a claim `cnf`. Returns `undefined` if it is malformed, or names no key. */
export function parseConfirmation(cnf: unknown): Confirmation | undefined {
  const isValid = isObject(cnf) && !Array.isArray(cnf) && Object.values(cnf).every(isString)
  return isValid && Object.keys(cnf).length > 0 ? (cnf as Confirmation) : undefined
}

/** Returns the reason why a client may not use what was issued to `clientId`; `undefined` if it may. */
export const clientProblem = (clientId: unknown, caller: { readonly clientId: string }) =>
  clientId === caller.clientId ? undefined : ('client_mismatch' as const)

/**
 * Returns the reason why a request that has proved some keys may not use what is bound to others; `undefined` if it may. A
 * malformed confirmation, and one without a key, fits no key.
 *
 * @param cnf `undefined` for what is bound to no key
 */
export function keyProblem(cnf: unknown, proved: Confirmation | undefined) {
  if (cnf === undefined) return undefined
  const required = parseConfirmation(cnf)
  const fits = required !== undefined && Object.entries(required).every(([member, key]) => proved?.[member] === key)
  if (fits) return undefined
  return proved === undefined ? ('proof_missing' as const) : ('wrong_key' as const)
}
