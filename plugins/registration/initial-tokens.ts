import type { Kit } from '@grantry/core'
import * as v from 'valibot'

const recordSchema = v.object({ budget: v.number(), expiresAt: v.number() })

/** The most registrations of a token. */
export const maxBudget = 10_000
/** Seconds: a year. */
export const maxTokenLifetime = 31_536_000

/** A token that was issued. It is shown once. */
export interface IssuedInitialToken {
  readonly token: string
  /** Names the token without being of use for a registration. */
  readonly id: string
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** Initial access tokens: each allows a number of registrations, until an end. */
export interface InitialTokens {
  /** @throws TypeError for a budget or a lifetime that is not possible */
  issue(token: { readonly budget: number; readonly lifetime: number }, kit: Kit): Promise<IssuedInitialToken>
  /** Returns whether there was such a token. */
  revoke(id: string, kit: Kit): Promise<boolean>
  /** Returns a function that takes one registration of the budget; `undefined` if there is no such token. */
  find(token: string, kit: Kit): Promise<(() => Promise<boolean>) | undefined>
}

/** Records that are removed together. */
const batch = 100

/** Seconds for which the counter of a revoked token is left. */
const counterLifetime = 60

const isCount = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most

/** With a prefix: a command would read one that starts with a dash as an option. */
const idOf = (token: string, kit: Kit): string => `token-${kit.sha256(token)}`

const keyOf = (id: string): string => `initial:${id}`

export const initialTokens: InitialTokens = {
  async issue({ budget, lifetime }, kit) {
    if (!isCount(budget, maxBudget)) throw new TypeError(`budget must be a whole number from 1 to ${maxBudget}`)
    if (!isCount(lifetime, maxTokenLifetime)) {
      throw new TypeError(`lifetime must be whole seconds from 1 to ${maxTokenLifetime}`)
    }
    const token = kit.randomId()
    const id = idOf(token, kit)
    const expiresAt = kit.now() + lifetime
    await kit.records.put(keyOf(id), { budget, expiresAt }, expiresAt)
    return { token, id, expiresAt }
  },
  async revoke(id, kit) {
    const record = await kit.records.get(keyOf(id), recordSchema)
    // Comes first: from then on, no registration takes a unit of the budget. The units are removed afterwards, a
    // hundred at a time.
    await kit.records.delete(keyOf(id))
    if (record === undefined) return false
    const taken = Math.min(record.budget, (await kit.records.increment(`units:${id}`, kit.now() + counterLifetime)) - 1)
    for (let first = 1; first <= taken; first += batch) {
      const last = Math.min(taken, first + batch - 1)
      const units = Array.from({ length: last - first + 1 }, (_, index) => first + index)
      await Promise.all(units.map((unit) => kit.records.delete(`unit:${id}:${unit}`)))
    }
    return true
  },
  async find(token, kit) {
    const id = idOf(token, kit)
    const record = await kit.records.get(keyOf(id), recordSchema)
    if (record === undefined) return undefined
    const { budget, expiresAt } = record
    return async () => {
      // The counter finds the next unit without trying all of them; a storage can lose it in a crash. The record of a unit is
      // created once.
      for (let tries = 0; tries <= budget; tries += 1) {
        const unit = await kit.records.increment(`units:${id}`, expiresAt)
        if (unit > budget) return false
        if (await kit.records.insert(`unit:${id}:${unit}`, {}, expiresAt)) return true
      }
      return false
    }
  },
}
