import type { Client } from '@grantry/core'

/**
 * Returns the scopes that the user can leave out one by one, if the client has `scopeChoice`. `openid` is not among
 * them, because the response without it is one of another protocol. Returns none if there is only one, because the user
 * can deny the request instead.
 */
export function scopesToChoose(client: Client, scopes: readonly string[]): readonly string[] {
  const { scopeChoice = client.selfDescribed !== undefined } = client
  return scopeChoice && scopes.length > 1 ? scopes.filter((name) => name !== 'openid') : []
}

/** Whether some scope gives access. `offline_access` alone does not: it extends the access of other scopes. */
export const givesAccess = (scopes: readonly string[]): boolean => scopes.some((name) => name !== 'offline_access')

/** The field of a scope that the user can choose. */
export const scopeFieldOf = (name: string): string => `scope:${name}`
