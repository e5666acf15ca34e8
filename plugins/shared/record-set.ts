import type { Kit } from '@grantry/core'
import * as v from 'valibot'

/** The number of members, unless another one is given. Reading a set reads all its slots. */
const defaultCapacity = 32

/** Seconds for which one call alone may change the slot of a member. */
const claimLifetime = 60

/** Seconds in which it must have changed it: a process that stands still for longer could meet the next member. */
const maxDuration = 30

/** @param id differs whenever the slot is filled, also if a member returns to it */
const slot = v.object({ member: v.string(), id: v.string() })
type Slot = v.InferOutput<typeof slot>

/**
 * A small set of texts in the records of a plugin. Each member has a slot of its own, so that concurrent additions cannot
 * lose one.
 */
export interface RecordSet {
  /**
   * Adds a member, or extends its life.
   *
   * @param expiresAt epoch seconds
   * @returns `false` if the set is full
   */
  add(member: string, expiresAt: number): Promise<boolean>
  /** Adds what is not a member yet. `false` if it is one, or the set is full. */
  insert(member: string, expiresAt: number): Promise<boolean>
  /** Extends the life of a member. `false` if it is none, or another call changes its slot. */
  extend(member: string, expiresAt: number): Promise<boolean>
  /**
   * Gives the slot of a member to another one. `false` if it is no member, or another call changes its slot.
   *
   * @param end ends the old member, before the slot has the new one. Of concurrent calls, one calls it
   */
  replace(old: string, member: string, expiresAt: number, end: () => Promise<unknown>): Promise<boolean>
  /** Removes a member, unless another call changes its slot. */
  remove(member: string): Promise<void>
  list(): Promise<readonly string[]>
}

type SetKit = Pick<Kit, 'records' | 'sha256' | 'now' | 'randomId'>

/** The slots of a set. */
function slotsOf({ records, sha256, randomId }: SetKit, name: string, capacity: number) {
  const keyOf = (index: number): string => `${name}:${index % capacity}`
  // Members begin at different slots, so that few additions meet.
  const firstOf = (member: string): number => {
    const hash = sha256(member)
    return hash.charCodeAt(0) + hash.charCodeAt(1) * 7
  }
  const slotAt = (index: number): Promise<Slot | undefined> => records.get(keyOf(index), slot)
  const indexes = Array.from({ length: capacity }, (_, index) => index)
  const all = () => Promise.all(indexes.map(slotAt))
  return {
    keyOf,
    all,
    filledWith: (member: string): Slot => ({ member, id: randomId() }),
    /** All indexes, in the order in which the member tries them. */
    orderFor(member: string): readonly number[] {
      const first = firstOf(member)
      return indexes.map((index) => (first + index) % capacity)
    },
    /** Returns the slot of a member, with its key. Usually, the first slot was free. */
    async find(member: string): Promise<(Slot & { readonly key: string }) | undefined> {
      const first = firstOf(member)
      const found = await slotAt(first)
      if (found?.member === member) return { ...found, key: keyOf(first) }
      const filled = await all()
      const index = filled.findIndex((one) => one?.member === member)
      const other = filled[index]
      return other && { ...other, key: keyOf(index) }
    },
  }
}

/**
 * Returns the function that changes the slot of a member, unless another call does. A storage cannot compare when it
 * writes or removes: without the claim, the change of a member that has just gone would hit the next one in its slot.
 */
const changeWith =
  ({ records, now }: SetKit, { find }: ReturnType<typeof slotsOf>) =>
  /** @returns what `act` returns: whether it was changed */
  async (member: string, act: (slotKey: string, isLate: () => boolean) => Promise<boolean>): Promise<boolean> => {
    const began = now()
    const isLate = (): boolean => now() >= began + maxDuration
    const found = await find(member)
    if (found === undefined) return false
    const claim = `${found.key}:claim of ${found.id}`
    if (!(await records.insert(claim, true, now() + claimLifetime))) return false
    return !isLate() && act(found.key, isLate)
  }

export function recordSet(kit: SetKit, name: string, capacity = defaultCapacity): RecordSet {
  const { records } = kit
  const slots = slotsOf(kit, name, capacity)
  const change = changeWith(kit, slots)
  const fill = (key: string, member: string, expiresAt: number): Promise<void> =>
    records.put(key, slots.filledWith(member), expiresAt)

  /** @param extend what to do with the slot that the member has. Without it, nothing is changed. */
  async function insert(member: string, expiresAt: number, extend?: (slotKey: string) => Promise<void>) {
    const [first = 0, ...others] = slots.orderFor(member)
    const filled = slots.filledWith(member)
    if (await records.insert(slots.keyOf(first), filled, expiresAt)) return true
    const known = await slots.all()
    const own = known.findIndex((one) => one?.member === member)
    if (own !== -1) {
      await extend?.(slots.keyOf(own))
      return extend !== undefined
    }
    for (const index of others) {
      if (known[index] === undefined && (await records.insert(slots.keyOf(index), filled, expiresAt))) return true
    }
    return false
  }

  return {
    insert: (member, expiresAt) => insert(member, expiresAt),
    add: (member, expiresAt) => insert(member, expiresAt, (key) => fill(key, member, expiresAt)),

    extend: (member, expiresAt) =>
      change(member, async (key) => {
        await fill(key, member, expiresAt)
        return true
      }),

    replace: (old, member, expiresAt, end) =>
      change(old, async (key, isLate) => {
        await end()
        if (isLate()) return false
        await fill(key, member, expiresAt)
        return true
      }),

    async remove(member) {
      await change(member, async (key) => {
        await records.delete(key)
        return true
      })
    },

    list: async () => [...new Set((await slots.all()).flatMap((one) => one?.member ?? []))],
  }
}
