import type { Client } from '@grantry/core'

/**
 * Returns the scopes that the user can leave out one by one, if the client has `scopeChoice`. Not `openid`: without it, the
 * response is one of another protocol. A single scope is no choice: the user can deny the request.
 */
export function scopesToChoose(client: Client, scopes: readonly string[]): readonly string[] {
  const { scopeChoice = client.selfDescribed !== undefined } = client
  return scopeChoice && scopes.length > 1 ? scopes.filter((name) => name !== 'openid') : []
}

/** Offline access extends the access that other scopes give. */
export const givesAccess = (scopes: readonly string[]): boolean => scopes.some((name) => name !== 'offline_access')

/** The field of a scope that the user can choose. */
export const scopeFieldOf = (name: string): string => `scope:${name}`
