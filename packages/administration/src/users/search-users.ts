import { type Entry, type EntryStore, foldedUsername } from '@grantry/core'
import { type ManagedPage, readsOfTrip } from '../manage-entries.ts'
import { type Managed, managedIn } from '../managed-entry.ts'
import type { StoredUser } from './user.ts'
import { nameOwnerIn } from './user-names.ts'
import { userType } from './user-type.ts'
import { type IdRange, idRangesOf } from './username.ts'

export interface SearchRequest {
  /** The start of the name, in any case and Unicode form. */
  readonly name: string
  /** The `next` of the page before. */
  readonly after?: string | undefined
  /** Maximum number of users: 1 to 1,000. */
  readonly limit: number
}

type Entries = Pick<EntryStore, 'list' | 'getAll'>

/** Names that are read for a page: few of them may start with the text. */
const maxReads = 1000

/** The users of a page. */
interface Found {
  readonly entries: Managed<StoredUser>[]
  /** Names and subs of entries that cannot be read. */
  readonly unreadable: string[]
}

const sizeOf = ({ entries, unreadable }: Found): number => entries.length + unreadable.length

/**
 * Adds the users whose names these entries are, until the page has `limit`.
 *
 * @returns the position after which the next page starts, if the page is full before the end
 */
async function addUsers(
  matches: Found,
  names: readonly Entry[],
  { folded, limit }: { readonly folded: string; readonly limit: number },
  entries: Entries,
): Promise<string | undefined> {
  const owners = names.map(nameOwnerIn)
  const fits = (owner: (typeof owners)[number]) => owner?.name.startsWith(folded) === true
  const subs = owners.flatMap((owner) => (owner !== undefined && fits(owner) ? [owner.sub] : []))
  const users = new Map((await entries.getAll('user', subs)).map((entry, index) => [subs[index], entry]))
  for (const [index, { id }] of names.entries()) {
    if (sizeOf(matches) === limit) return names[index - 1]?.id
    const owner = owners[index]
    if (owner === undefined) matches.unreadable.push(id)
    if (owner === undefined || !fits(owner)) continue
    const entry = users.get(owner.sub)
    const user = entry && managedIn(userType, entry)
    if (entry !== undefined && user === undefined) matches.unreadable.push(owner.sub)
    if (user !== undefined && foldedUsername(user.value.username) === owner.name) matches.entries.push(user)
  }
  return undefined
}

/** Returns the ranges that are left after the end of a page. */
function rangesAfter(folded: string, after: string | undefined): readonly IdRange[] {
  const ranges = idRangesOf(folded)
  return after === undefined ? ranges : ranges.slice(ranges.findIndex(({ contains }) => contains(after)))
}

/** Returns a function that finds users by the start of their names, in the order of the names. */
export const createSearch =
  (entries: Entries) =>
  async ({ name, limit, after }: SearchRequest): Promise<ManagedPage<StoredUser>> => {
    // A space at the end of the start is in the middle of a name.
    const folded = foldedUsername(name) + (/\S\s+$/u.test(name) ? ' ' : '')
    const matches: Found = { entries: [], unreadable: [] }
    let reads = 0
    let position = after
    for (const { prefix, contains } of rangesAfter(folded, after)) {
      let next = position !== undefined && contains(position) ? position : undefined
      do {
        if (sizeOf(matches) === limit || reads >= maxReads) return { ...matches, next: position }
        const trip = reads === 0 ? limit : Math.max(limit, readsOfTrip)
        const page = await entries.list('user-name', { after: next, limit: trip, prefix })
        const names = page.entries.filter(({ id }) => contains(id))
        const full = await addUsers(matches, names, { folded, limit }, entries)
        if (full !== undefined) return { ...matches, next: full }
        next = page.next
        position = next ?? page.entries.at(-1)?.id ?? position
        reads += next === undefined ? page.entries.length : trip
      } while (next !== undefined)
    }
    return matches
  }
