import { defaultCost } from '../../packages/users/src/password-hash/cost.ts'

/** The least memory and the fewest passes of Argon2id that the product accepts. */
const cheapest = { m: 8, t: 1 }

/** Makes new hashes of passwords cheap, and the work for users that do not exist. Returns what ends that. */
export function hashCheaply(): () => void {
  const usual = { ...defaultCost }
  Object.assign(defaultCost, cheapest)
  return () => void Object.assign(defaultCost, usual)
}
