import type { Entry, EntryStore } from '@grantry/core'
import { type Managed, managedIn } from '../managed-entry.ts'
import type { ManagedPage } from '../pages.ts'
import type { StoredUser } from './user.ts'
import { nameOwnerIn } from './user-names.ts'
import { userType } from './user-type.ts'
import { foldedUsername, type IdRange, idRangesOf } from './username.ts'

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

/** What a page has found. */
interface Found {
  readonly entries: Managed<StoredUser>[]
  /** Names and subs of entries that cannot be read. */
  readonly unreadable: string[]
}

/** Adds the users whose names these entries are. */
async function addUsers(found: Found, names: readonly Entry[], folded: string, entries: Entries): Promise<void> {
  const owners = names.flatMap((entry) => {
    const owner = nameOwnerIn(entry)
    if (owner === undefined) found.unreadable.push(entry.id)
    return owner?.name.startsWith(folded) ? owner : []
  })
  const subs = owners.map(({ sub }) => sub)
  const users = await entries.getAll('user', subs)
  for (const [index, { name, sub }] of owners.entries()) {
    const entry = users[index]
    const user = entry && managedIn(userType, entry)
    if (entry !== undefined && user === undefined) found.unreadable.push(sub)
    if (user !== undefined && foldedUsername(user.value.username) === name) found.entries.push(user)
  }
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
    const folded = foldedUsername(name)
    const found: Found = { entries: [], unreadable: [] }
    let reads = 0
    let position = after
    for (const { prefix, contains } of rangesAfter(folded, after)) {
      let next = position !== undefined && contains(position) ? position : undefined
      do {
        const left = limit - found.entries.length - found.unreadable.length
        if (left <= 0 || reads >= maxReads) return { ...found, next: position }
        const page = await entries.list('user-name', { after: next, limit: left, prefix })
        const names = page.entries.filter(({ id }) => contains(id))
        await addUsers(found, names, folded, entries)
        next = page.next
        position = next ?? page.entries.at(-1)?.id ?? position
        reads += next === undefined ? page.entries.length : left
      } while (next !== undefined)
    }
    return found
  }
