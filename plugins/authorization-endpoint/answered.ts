import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'

/** 256 random bits. */
export const idForm = /^[\w-]{43}$/u

/** The record of a request that was answered: its client. */
export const usedKeyOf = (id: string): string => `used interaction:${id}`

/**
 * Returns the client of a request that was answered, for a user who goes back in the browser and opens its page
 * again.
 */
export async function answeredClientOf(kit: Pick<EndpointKit, 'records'>, id: string | null): Promise<string | null> {
  if (id === null || !idForm.test(id)) return null
  const used = await kit.records.get(usedKeyOf(id), v.union([v.string(), v.boolean()]))
  return typeof used === 'string' ? used : null
}
