import type { Statement } from './account-statements.ts'
import type { TextRow } from './sql-client.ts'
import { hasValue } from './values.ts'

interface Rows {
  rowBy(key: 'byEmail', text: string): Promise<TextRow | undefined>
  write(make: (statements: { releaseAddress(sub: string): Statement }) => Statement): Promise<void>
}

/**
 * Takes a verified address from an account in which it is not verified, where it could keep its owner out. Returns
 * `false` if no account has it, or the column must not be empty.
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
