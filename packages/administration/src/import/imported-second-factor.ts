import type { Finding } from './imported.ts'

/**
 * Disables a user who signs in with a second factor there: it is not imported, and the password alone must not open what it
 * did not open there.
 *
 * @param factors what the export says of them; none if there are none
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
