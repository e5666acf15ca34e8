import { isSameUsername, spellingsOf } from '@grantry/core'
import { isPossible } from '../user-database.ts'
import type { TextRow } from './sql-client.ts'

/**
 * Returns the rows of the most exact spelling of a name that exists. Always reads all spellings, so that the time does
 * not reveal which one exists.
 */
export async function rowsOfName(
  name: string,
  isCaseSensitive: boolean,
  read: (spelling: string) => Promise<readonly TextRow[]>,
): Promise<readonly TextRow[]> {
  const all = await Promise.all(spellingsOf(name, isCaseSensitive).filter(isPossible).map(read))
  return all.find(([first]) => first !== undefined) ?? []
}

/** Whether a row that a database has found for a name is of this name. A collation can ignore more than this process. */
export const isOfName = (typed: string, stored: string | null | undefined): boolean =>
  isSameUsername(typed, stored ?? '')

/** Returns a row with the name in its second column, if it is of this name. */
export const ofName = (typed: string, row: TextRow | undefined): TextRow | undefined =>
  isOfName(typed, row?.[1]) ? row : undefined
