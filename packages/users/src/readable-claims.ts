import type { Json } from '@grantry/core'

/** Returns the claims of a user for administrators. A value of a wrong type is left out, and does not hide the user. */
export function readableClaims<C extends { readonly claim: string }>(
  claims: readonly C[],
  read: (claim: C) => Json | undefined,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    claims.flatMap((mapping) => {
      try {
        const value = read(mapping)
        return value === undefined ? [] : [[mapping.claim, value]]
      } catch {
        // The requests of the user report the mistake.
        return []
      }
    }),
  )
}
