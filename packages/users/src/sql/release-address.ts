import type { Statement } from './account-statements.ts'
import type { TextRow } from './sql-client.ts'
import { hasValue } from './values.ts'

interface Rows {
  rowBy(key: 'byEmail', text: string): Promise<TextRow | undefined>
  write(make: (statements: { releaseAddress(sub: string): Statement }) => Statement): Promise<void>
}

/**
 * Takes an address, which a user has proved, from an account that has not: it belongs to no user there, and could keep its
 * owner out. `false` if there is nothing to take, or the column must not be empty.
 *
 * @param isName whether the column of the address has the names, too
 */
export const releaseIn =
  (rows: Rows, isName: boolean) =>
  async (email: string | undefined, isProved: boolean | undefined): Promise<boolean> => {
    if (email === undefined || isProved !== true || isName) return false
    const [sub, , , verified = null] = (await rows.rowBy('byEmail', email)) ?? []
    if (sub == null || hasValue(verified, true)) return false
    try {
      await rows.write((statements) => statements.releaseAddress(sub))
      return true
    } catch {
      return false
    }
  }
