import type { Kit, RecordOptions } from '@grantry/core'
import * as v from 'valibot'

/** The default of the maximum number of members. */
const defaultCapacity = 32

/** Seconds for which only one call may pass the place of a member on to another member. */
const leavingTime = 60

/** Seconds for which an empty set is kept. A later change creates it again. */
const emptyLifetime = 60

const schema = v.array(
  v.object({
    member: v.string(),
    /** Epoch seconds. */
    expiresAt: v.number(),
    /** The call that passes the place on to another member. */
    leaving: v.exactOptional(v.object({ id: v.string(), since: v.number() })),
  }),
)
type Member = v.InferOutput<typeof schema>[number]

/** A small set of texts in one record of a plugin, in the order of their addition. Concurrent changes lose no member. */
export interface RecordSet {
  /**
   * Adds a member, or prolongs its lifetime.
   *
   * @param expiresAt epoch seconds
   * @returns `false` if the set is full, or another call passes the place of the member on
   */
  add(member: string, expiresAt: number): Promise<boolean>
  /** Adds a new member. Returns `false` if it is a member already, or the set is full. */
  insert(member: string, expiresAt: number): Promise<boolean>
  /**
   * Adds a member as the newest one, even if it is a member already. If the set is full, the oldest member is removed.
   */
  push(member: string, expiresAt: number): Promise<void>
  /** Prolongs the lifetime of a member. Returns `false` if it is no member, or another call passes its place on. */
  extend(member: string, expiresAt: number): Promise<boolean>
  extendAll(expiresAt: number): Promise<void>
  /**
   * Passes the place of a member on to another one. Returns `false` if `old` is no member, or another call passes its
   * place on.
   *
   * @param end ends the old member, before the new one has its place. Of concurrent calls, one calls it
   */
  replace(old: string, member: string, expiresAt: number, end: () => Promise<unknown>): Promise<boolean>
  /** Removes members in one change, except those whose place another call passes on. */
  remove(...members: readonly string[]): Promise<void>
  list(): Promise<readonly string[]>
}

type SetKit = Pick<Kit, 'records' | 'now' | 'randomId'>

/** Creates the two functions that all changes of a set use. */
function changesOf({ records, now }: SetKit, name: string, options: RecordOptions) {
  function live(members: readonly Member[]): readonly Member[] {
    const at = now()
    return members.filter(({ expiresAt }) => expiresAt > at)
  }
  const isLeaving = ({ leaving }: Member): boolean => leaving !== undefined && leaving.since > now() - leavingTime

  /** @param next returns the changed members, or `undefined` to change nothing. Returns whether there was a change. */
  async function change(next: (members: readonly Member[]) => readonly Member[] | undefined): Promise<boolean> {
    let isChanged = false
    await records.update(name, schema, (present = []) => {
      const value = next(live(present))
      isChanged = value !== undefined
      const ends = value?.map(({ expiresAt }) => expiresAt) ?? []
      return value && { value: [...value], expiresAt: Math.max(now() + emptyLifetime, ...ends), ...options }
    })
    return isChanged
  }

  /** Changes a member, unless another call passes its place on. */
  const changeMember = (member: string, next: (present: Member) => readonly Member[]): Promise<boolean> =>
    change((members) =>
      members.some((entry) => entry.member === member && !isLeaving(entry))
        ? members.flatMap((entry) => (entry.member === member ? next(entry) : [entry]))
        : undefined,
    )

  return { change, changeMember, isLeaving, list: async () => live((await records.get(name, schema)) ?? []) }
}

/** @param options for the record of the set */
export function recordSet(
  kit: SetKit,
  name: string,
  capacity = defaultCapacity,
  options: RecordOptions = {},
): RecordSet {
  const { now, randomId } = kit
  const { change, changeMember, isLeaving, list } = changesOf(kit, name, options)
  return {
    insert: (member, expiresAt) =>
      change((members) =>
        members.length < capacity && members.every((entry) => entry.member !== member)
          ? [...members, { member, expiresAt }]
          : undefined,
      ),

    async add(member, expiresAt) {
      let isMember = false
      const isAdded = await change((members) => {
        const present = members.find((entry) => entry.member === member)
        isMember = present !== undefined && !isLeaving(present)
        if (present === undefined) return members.length < capacity ? [...members, { member, expiresAt }] : undefined
        // Usually, there is nothing to write.
        if (!isMember || (present.expiresAt >= expiresAt && present.leaving === undefined)) return undefined
        const stays = { member, expiresAt: Math.max(present.expiresAt, expiresAt) }
        return members.map((entry) => (entry === present ? stays : entry))
      })
      return isMember || isAdded
    },

    async push(member, expiresAt) {
      await change((members) => {
        const others = members.filter((entry) => entry.member !== member)
        return [...others.slice(Math.max(0, others.length + 1 - capacity)), { member, expiresAt }]
      })
    },

    extend: (member, expiresAt) => changeMember(member, () => [{ member, expiresAt }]),

    async extendAll(expiresAt) {
      await change((members) => (members.length === 0 ? undefined : members.map((entry) => ({ ...entry, expiresAt }))))
    },

    async replace(old, member, expiresAt, end) {
      const id = randomId()
      const leaving = { id, since: now() }
      if (!(await changeMember(old, (present) => [{ ...present, leaving }]))) return false
      await end()
      return change((members) => {
        const place = members.find((entry) => entry.leaving?.id === id)
        // This call took so long that another one has passed the place on.
        if (place === undefined) return undefined
        // A concurrent call may have given the new member another place.
        return members.flatMap((entry) =>
          entry === place ? [{ member, expiresAt }] : entry.member === member ? [] : [entry],
        )
      })
    },

    async remove(...removed) {
      await change((members) => {
        const left = members.filter((entry) => !removed.includes(entry.member) || isLeaving(entry))
        return left.length < members.length ? left : undefined
      })
    },

    list: async () => (await list()).map(({ member }) => member),
  }
}
