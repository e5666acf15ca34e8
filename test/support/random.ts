/** Choices that are the same at every run with the same seed. The timing of the machine is not. */
export interface Random {
  /** A whole number from 0, less than the limit. */
  below(limit: number): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  /** @throws TypeError when there is nothing to pick from. */
  pick<T>(items: readonly T[]): T
  /** An independent sequence: how often one actor chooses does not change the choices of another. */
  fork(): Random
}

/** Mulberry32: 32 bits of state, good enough to shuffle with, and short. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  /** From 0 to 1, excluding 1. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick(items) {
      if (items.length === 0) throw new TypeError('there is nothing to pick from')
      return items[below(items.length)] as (typeof items)[number]
    },
    fork: () => createRandom(below(2 ** 32)),
  }
}
