import { entryProblem, type Runtime } from '@grantry/core'

/** The longest name that a sign-in accepts. */
const maxLength = 256

/** Characters that are not visible, that a line cannot contain, or that no font has. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** Returns why a user cannot have this name; `undefined` if a user can. */
export function usernameProblem(username: string): string | undefined {
  if (username === '' || username.length > maxLength) return `must be 1 to ${maxLength} characters`
  if (invisible.test(username)) return 'must not contain line breaks, control characters or invisible characters'
  return username.trim() === username ? undefined : 'must not start or end with a space'
}

/** Starts the hash in an id. A name with this character is always hashed. */
const mark = '~'

/** Characters of a hashed name that its id starts with, so that a search finds it. Twelve of the longest fit into an id. */
const shownLength = 12

const plainStart = /^[\x20-\x7D]*/u

const startOf = (folded: string): string => (plainStart.exec(folded)?.[0] ?? '').slice(0, shownLength)

/** Returns the id of the entry of a folded name: the name, or its start and its hash if it cannot be an id. */
export function usernameId(folded: string, { sha256Hex }: Pick<Runtime, 'sha256Hex'>): string {
  const isPlain = plainStart.exec(folded)?.[0] === folded
  if (isPlain && entryProblem(folded, null) === undefined) return folded
  return `${startOf(folded)}${mark}${sha256Hex(folded).slice(0, 32)}`
}

/** Ids that contain those of all names with a start. */
export interface IdRange {
  readonly prefix: string
  contains(id: string): boolean
}

/** Returns the ranges of ids in which names start with `folded`, in their order: hashed ones, then the others. */
export function idRangesOf(folded: string): readonly IdRange[] {
  const start = startOf(folded)
  const isHashed = (id: string): boolean => id.includes(mark)
  if (start === folded) return [{ prefix: folded, contains: () => true }]
  const hashed = { prefix: `${start}${mark}`, contains: isHashed }
  const isPlain = plainStart.exec(folded)?.[0] === folded
  return isPlain ? [hashed, { prefix: folded, contains: (id) => !isHashed(id) }] : [hashed]
}
