import { kinds, type ManagedPage, type StoredUser, shownEntry } from '@grantry/administration'
import { type CommonArguments, details, json, tableOfPages } from '../entry-commands.ts'
import { print, table } from '../output.ts'
import { runOnKnownUser, runOnUsers } from './find-subject.ts'

interface PageArguments extends CommonArguments {
  readonly limit: number
  readonly after?: string
}

interface ListArguments extends PageArguments {
  readonly prefix?: string
  readonly tag?: string
  readonly disabled?: true
}

type Page = ManagedPage<StoredUser>

const textOfMember = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Reads pages until there are as many users as the command shows. */
async function readPages(
  limit: number,
  first: string | undefined,
  read: (after: string | undefined, left: number) => Promise<Page>,
) {
  const pages: Page[] = []
  let left = limit
  let after = first
  do {
    const page = await read(after, Math.min(left, 200))
    pages.push(page)
    left -= page.entries.length + page.unreadable.length
    after = page.next
  } while (after !== undefined && left > 0)
  return { pages, next: after }
}

function textOf({ pages, next }: Awaited<ReturnType<typeof readPages>>, options: PageArguments): string {
  if (options.json) {
    const users = pages.flatMap(({ entries }) => entries.map((user) => shownEntry(kinds.user.type, user)))
    const unreadable = pages.flatMap((page) => page.unreadable)
    return json({ users, unreadable, next: next ?? null })
  }
  const more = next === undefined ? '' : `There are more: continue with --after ${JSON.stringify(next)}\n`
  return `${tableOfPages(kinds.user, pages)}${more}`
}

export async function listUsers(options: ListArguments): Promise<void> {
  const filter = { prefix: options.prefix, tag: options.tag, enabled: options.disabled === true ? false : undefined }
  const listed = await runOnUsers(options, ({ users }) =>
    readPages(options.limit, options.after, (after, limit) => users.page({ ...filter, after, limit })),
  )
  print(textOf(listed, options))
}

export async function searchUsers(name: string, options: PageArguments): Promise<void> {
  const listed = await runOnUsers(options, ({ users }) =>
    readPages(options.limit, options.after, (after, limit) => users.search({ name, after, limit })),
  )
  print(textOf(listed, options))
}

/** Also shows a user who is not in the storage, with where the user is. */
export const showUser = (subOrName: string, options: CommonArguments): Promise<void> =>
  runOnKnownUser(subOrName, options, async ({ user, administration: { users } }) => {
    if (user.from !== 'storage') {
      print(options.json ? json(user) : table(Object.entries(user).map(([name, value]) => [name, textOfMember(value)])))
      return
    }
    const entry = await users.show(user.sub)
    print(options.json ? json(shownEntry(kinds.user.type, entry)) : details(kinds.user.type, entry))
  })
