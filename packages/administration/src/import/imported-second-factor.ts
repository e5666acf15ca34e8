import type { Finding } from './imported.ts'

/**
 * Disables a user who signs in with a second factor in the other system. The factor is not imported, and the password
 * alone must not suffice here.
 *
 * @param factors the factors in the export; empty without any
 */
export function disabledWithout(
  factors: readonly string[],
  entry: string,
  findings: Finding[],
): { readonly active?: false } {
  if (factors.length === 0) return {}
  const what = `is disabled: the second factor (${[...new Set(factors)].join(', ')}) is not imported; delete "active": false in the file for a user who may sign in without it`
  findings.push({ entry, what, outcome: 'changed', consequence: 'sign-in' })
  return { active: false }
}
