import { randomBytes, timingSafeEqual } from 'node:crypto'
import { foldedPassword } from '@grantry/core'
import type { PasswordCost, Pbkdf2Cost } from './cost.ts'
import { type Derive, deriveKey } from './derive.ts'
import { defaultLength, defaultSaltLength, newCost } from './new-hash.ts'
import type { PasswordHash } from './parse.ts'

/** Whether a password matches a hash; `undefined` is an unknown user. */
export type PasswordCheck = (password: string, stored: PasswordHash | undefined) => Promise<boolean>

/** Maximum number of costs that a check learns. Each is work for every attempt. */
const maxLearned = 8

const isPbkdf2 = (cost: PasswordCost): cost is Pbkdf2Cost => cost.algorithm.startsWith('pbkdf2-')

/** All iterations of PBKDF2 are one kind of work: a check with fewer is filled up. */
const kindOf = (cost: PasswordCost): string => (isPbkdf2(cost) ? cost.algorithm : JSON.stringify(cost))

const workOf = (cost: PasswordCost): number => {
  if (cost.algorithm === 'scrypt') return 2 ** cost.ln * cost.r * cost.p
  if (cost.algorithm === 'bcrypt') return cost.rounds
  return isPbkdf2(cost) ? cost.iterations : cost.m * cost.t
}

/** The kinds of work of all hashes that were seen, the most expensive first. */
function createWork(hashes: readonly PasswordHash[]) {
  const kinds = new Map<string, PasswordCost>()
  // A shorter key is a prefix of a longer one, because the last step of scrypt is PBKDF2 with one iteration (RFC 7914
  // section 6, RFC 8018 section 5.2). The length hardly changes the time of Argon2, where it changes the key.
  const lengths = new Map<PasswordCost['algorithm'], number>()
  let sorted: readonly PasswordCost[] | undefined

  const learn = ({ cost, hash }: PasswordHash): void => {
    const kind = kindOf(cost)
    const known = kinds.get(kind)
    const longest = Math.max(lengths.get(cost.algorithm) ?? defaultLength, hash.length)
    lengths.set(cost.algorithm, longest)
    if (known === undefined || workOf(cost) > workOf(known)) sorted = undefined
    // The last one is the kind that was seen last.
    kinds.delete(kind)
    kinds.set(kind, known !== undefined && workOf(known) >= workOf(cost) ? known : cost)
  }
  for (const hash of hashes) learn(hash)
  const capacity = Math.max(maxLearned, kinds.size)

  return {
    learn: (hash: PasswordHash): void => {
      learn(hash)
      const [oldest] = kinds.keys()
      if (kinds.size <= capacity || oldest === undefined) return
      kinds.delete(oldest)
      sorted = undefined
    },
    costs: (): readonly PasswordCost[] => {
      if (kinds.size === 0) return [newCost()]
      sorted ??= [...kinds.values()].sort(
        (left, right) => left.algorithm.localeCompare(right.algorithm) || workOf(right) - workOf(left),
      )
      return sorted
    },
    lengthOf: ({ algorithm }: PasswordCost): number => lengths.get(algorithm) ?? defaultLength,
  }
}

/**
 * Creates a check that always does the same work: one computation for each cost among the hashes, in the same order, even
 * for an unknown user. Its duration does not reveal which users exist, or who has an old hash. An empty password matches
 * no hash, and neither does one with NUL: HMAC, which PBKDF2 and scrypt start with, ignores NUL at the end, and other
 * implementations of bcrypt ignore what follows it. A password that devices send in several forms is checked in the form of
 * new hashes, and as typed, because others have hashed what was typed.
 *
 * @param hashes those that are known. The check learns the costs of others when it sees them: the first attempt with a
 * new one is work for all later attempts.
 * @param derive replaces the computation in tests
 * @see docs/decisions/0031-equal-work-for-every-credential.md
 */
export function createPasswordCheck(hashes: readonly PasswordHash[] = [], derive: Derive = deriveKey): PasswordCheck {
  const work = createWork(hashes)
  // With the first attempt: Cloudflare Workers have no random values before the first request.
  let salt: Uint8Array | undefined
  const decoySalt = (): Uint8Array => {
    salt ??= randomBytes(defaultSaltLength)
    return salt
  }

  /** Derives the key of a hash with the work of `cost`, which is of the same kind. */
  const ownKey = async (password: string, stored: PasswordHash, cost: PasswordCost): Promise<Uint8Array> => {
    const isArgon2 = cost.algorithm === 'argon2id' || cost.algorithm === 'argon2i'
    const length = isArgon2 ? stored.hash.length : work.lengthOf(cost)
    const key = await derive(password, stored.salt, length, stored.cost)
    const left = isPbkdf2(cost) && isPbkdf2(stored.cost) ? cost.iterations - stored.cost.iterations : 0
    if (isPbkdf2(cost) && left > 0) await derive(password, decoySalt(), length, { ...cost, iterations: left })
    return key
  }

  async function matchesAs(presented: string, stored: PasswordHash | undefined): Promise<boolean> {
    const storedKind = stored === undefined ? undefined : kindOf(stored.cost)
    // Not every algorithm accepts an empty password.
    const password = presented === '' ? '\0' : presented
    const isUsable = presented !== '' && !presented.includes('\0')
    let matches = false
    for (const cost of work.costs()) {
      if (stored !== undefined && kindOf(cost) === storedKind) {
        const key = await ownKey(password, stored, cost)
        matches = timingSafeEqual(key.subarray(0, stored.hash.length), stored.hash)
      } else {
        await derive(password, decoySalt(), work.lengthOf(cost), cost)
      }
    }
    return matches && isUsable
  }

  return async (presented, stored) => {
    if (stored !== undefined) work.learn(stored)
    const forms = new Set([foldedPassword(presented), presented])
    let matches = false
    for (const form of forms) matches = (await matchesAs(form, stored)) || matches
    return matches
  }
}
