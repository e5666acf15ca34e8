import { addressGroupOf } from '@grantry/core'

/** Why a request cannot make the provider fetch something. */
export type BudgetProblem = 'too_many_of_address' | 'too_many'

/** The numbers of fetches in a minute: for one address, and in all. */
export interface FetchLimits {
  readonly maxFetches: number
  readonly maxFetchesPerAddress: number
}

/** Limits what callers who have not signed in can make the provider fetch. */
export interface FetchBudget {
  /**
   * Takes one fetch.
   *
   * @param now epoch seconds
   * @returns why there is none left; `undefined` if it was taken
   */
  take(clientAddress: string | undefined, now: number): BudgetProblem | undefined
}

const period = 60

/** Counts in this process. The total bounds the number of addresses that it remembers. */
export function createFetchBudget({ maxFetches, maxFetchesPerAddress }: FetchLimits): FetchBudget {
  let current = Number.NEGATIVE_INFINITY
  let total = 0
  let byAddress = new Map<string, number>()

  return {
    take(clientAddress, now) {
      const at = Math.floor(now / period)
      if (at !== current) [current, total, byAddress] = [at, 0, new Map()]
      const group = clientAddress === undefined ? undefined : addressGroupOf(clientAddress)
      const taken = group === undefined ? 0 : (byAddress.get(group) ?? 0)
      // Counts the address first: an address that is over its limit must not use up the total.
      if (taken >= maxFetchesPerAddress) return 'too_many_of_address'
      if (total >= maxFetches) return 'too_many'
      total += 1
      if (group !== undefined) byAddress.set(group, taken + 1)
      return undefined
    },
  }
}
