import type { Kit } from '@grantry/core'
import * as v from 'valibot'

/** The number of members, unless another one is given. Reading a set reads all its slots. */
const defaultCapacity = 32

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
  remove(member: string): Promise<void>
  list(): Promise<readonly string[]>
}

export function recordSet(kit: Pick<Kit, 'records' | 'sha256'>, name: string, capacity = defaultCapacity): RecordSet {
  const { records } = kit
  const keyOf = (index: number): string => `${name}:${index % capacity}`
  // Members begin at different slots, so that few additions meet.
  const firstOf = (member: string): number => kit.sha256(member).charCodeAt(0) + kit.sha256(member).charCodeAt(1) * 7
  const memberAt = async (index: number): Promise<string | undefined> => (await records.get(keyOf(index), slot))?.member
  const indexes = Array.from({ length: capacity }, (_, index) => index)

  return {
    async add(member, expiresAt) {
      const first = firstOf(member)
      for (const index of indexes) {
        if (await records.insert(keyOf(first + index), { member }, expiresAt)) return true
        if ((await memberAt(first + index)) !== member) continue
        await records.put(keyOf(first + index), { member }, expiresAt)
        return true
      }
      return false
    },

    async remove(member) {
      // Usually, the first slot was free.
      const first = firstOf(member)
      if ((await memberAt(first)) === member) return records.delete(keyOf(first))
      const members = await Promise.all(indexes.map(memberAt))
      await Promise.all(
        indexes.filter((index) => members[index] === member).map((index) => records.delete(keyOf(index))),
      )
    },

    async list() {
      const members = await Promise.all(indexes.map(memberAt))
      return members.filter((member) => member !== undefined)
    },
  }
}
