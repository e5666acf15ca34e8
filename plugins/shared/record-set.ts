import type { Kit } from '@grantry/core'
import * as v from 'valibot'

/** The number of members, unless another one is given. Reading a set reads all its slots. */
const defaultCapacity = 32

/** Seconds for which one call alone may change the slot of a member. */
const claimLifetime = 60

/** Seconds in which it must have changed it: a process that stands still for longer could meet the next member. */
const maxDuration = 30

const slot = v.object({ member: v.string() })

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
  /** Adds what is not a member yet. `false` if the set is full. */
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

type SetKit = Pick<Kit, 'records' | 'sha256' | 'now'>

/** The slots of a set. */
function slotsOf({ records, sha256 }: SetKit, name: string, capacity: number) {
  const keyOf = (index: number): string => `${name}:${index % capacity}`
  // Members begin at different slots, so that few additions meet.
  const firstOf = (member: string): number => sha256(member).charCodeAt(0) + sha256(member).charCodeAt(1) * 7
  const memberAt = async (index: number): Promise<string | undefined> => (await records.get(keyOf(index), slot))?.member
  const indexes = Array.from({ length: capacity }, (_, index) => index)
  const members = () => Promise.all(indexes.map(memberAt))
  return {
    keyOf,
    members,
    /** All indexes, in the order in which the member tries them. */
    orderFor: (member: string) => indexes.map((index) => (firstOf(member) + index) % capacity),
    /** Returns the index of a member. Usually, the first slot was free. */
    async indexOf(member: string): Promise<number | undefined> {
      const first = firstOf(member)
      if ((await memberAt(first)) === member) return first
      const index = (await members()).indexOf(member)
      return index === -1 ? undefined : index
    },
  }
}

/**
 * Returns the function that changes the slot of a member, unless another call does. A storage cannot compare when it
 * writes or removes: without the claim, the change of a member that has just gone would hit the next one in its slot.
 */
const changeWith =
  ({ records, now }: SetKit, { keyOf, indexOf }: ReturnType<typeof slotsOf>) =>
  /** @returns what `act` returns: whether it was changed */
  async (member: string, act: (slotKey: string, isLate: () => boolean) => Promise<boolean>): Promise<boolean> => {
    const began = now()
    const isLate = (): boolean => now() >= began + maxDuration
    const index = await indexOf(member)
    if (index === undefined) return false
    const key = keyOf(index)
    if (!(await records.insert(claimOf(key, member), true, now() + claimLifetime))) return false
    return !isLate() && act(key, isLate)
  }

const claimOf = (slotKey: string, member: string): string => `${slotKey}:claim of ${member}`

export function recordSet(kit: SetKit, name: string, capacity = defaultCapacity): RecordSet {
  const { records } = kit
  const slots = slotsOf(kit, name, capacity)
  const change = changeWith(kit, slots)

  /** @param extend what to do with the slot that the member has. Without it, the member gets another one. */
  async function insert(member: string, expiresAt: number, extend?: (slotKey: string) => Promise<void>) {
    const [first = 0, ...others] = slots.orderFor(member)
    if (await records.insert(slots.keyOf(first), { member }, expiresAt)) return true
    const known = await slots.members()
    const own = known.indexOf(member)
    if (own !== -1 && extend !== undefined) {
      await extend(slots.keyOf(own))
      return true
    }
    for (const index of others) {
      if (known[index] === undefined && (await records.insert(slots.keyOf(index), { member }, expiresAt))) return true
    }
    return false
  }

  return {
    insert: (member, expiresAt) => insert(member, expiresAt),
    add: (member, expiresAt) => insert(member, expiresAt, (key) => records.put(key, { member }, expiresAt)),

    extend: (member, expiresAt) =>
      change(member, async (key) => {
        await records.put(key, { member }, expiresAt)
        await records.delete(claimOf(key, member))
        return true
      }),

    replace: (old, member, expiresAt, end) =>
      change(old, async (key, isLate) => {
        await end()
        if (isLate()) return false
        await records.put(key, { member }, expiresAt)
        return true
      }),

    async remove(member) {
      await change(member, async (key) => {
        await records.delete(key)
        return true
      })
    },

    list: async () => [...new Set((await slots.members()).filter((member) => member !== undefined))],
  }
}
