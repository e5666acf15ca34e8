import type { ConcurrencyLimit } from '../concurrency-limit.ts'
import { hashPassword } from '../password-hash/new-hash.ts'
import { isPossible } from '../user-database.ts'
import type { Reader, Rows } from './account-rows.ts'
import { type AccountColumns, booleanText, type Cell, claimCells } from './account-statements.ts'
import type { SqlAccounts } from './account-types.ts'
import { releaseIn } from './release-address.ts'
import type { SqlUsersOptions } from './sql-options.ts'

/**
 * Whether an address is stored. An unverified address must not become a name, because its owner could then not use it.
 */
export const isKept = ({ isName }: AccountColumns, isVerified: boolean | undefined): boolean =>
  isVerified === true || !isName

/** The table, and the limit for hashes, of the functions that write accounts. */
export interface WriterDeps {
  readonly options: SqlUsersOptions
  readonly columns: AccountColumns
  readonly rows: Rows
  readonly reader: Reader
  /** The limit for hashes. */
  readonly limited: ConcurrencyLimit
}

/** Returns the functions that create cells of an account. */
export function accountCells({ options, columns, limited }: Pick<WriterDeps, 'options' | 'columns' | 'limited'>) {
  return {
    address: (email: string | undefined, isVerified: boolean | undefined): readonly Cell[] => [
      ...(email === undefined ? [] : [[columns.email, email] as const]),
      ...(isVerified === undefined ? [] : [[columns.emailVerified, booleanText(isVerified)] as const]),
    ],
    password: async (password: string | undefined): Promise<readonly Cell[]> =>
      password === undefined ? [] : [[options.columns.password, await limited(() => hashPassword(password))]],
  }
}

/** Creates the function that changes an account, unless another call has changed it since. */
export function createChange(deps: WriterDeps): SqlAccounts['change'] {
  const { options, columns, rows, reader } = deps
  const cellsOf = accountCells(deps)
  const release = releaseIn(rows, columns.isName)

  return async (sub, changes) => {
    const { claims, someClaims = {}, username, email, emailVerified, password, version, isStillAllowed } = changes
    if (![username ?? 'a', email ?? 'a'].every(isPossible)) throw new TypeError('The name or address is malformed')
    const current = await reader.read(sub)
    if (current === undefined || current.account.version !== (version ?? current.account.version)) return undefined
    const { account: before, row } = current
    const isAllowed = async () => isStillAllowed === undefined || (await isStillAllowed()) === true
    // A new address is not verified. If names and addresses are in one column, a new name is a new address.
    const isNew =
      (email !== undefined && email !== before.email) ||
      (columns.isName && username !== undefined && username !== before.username)
    const isVerified = emailVerified ?? (isNew ? false : undefined)
    const keeps = email === undefined || isKept(columns, isVerified)
    const hashed = await cellsOf.password(password)
    const cells = [
      ...(username === undefined ? [] : [[options.columns.username, username] as const]),
      ...(keeps || username !== undefined ? cellsOf.address(keeps ? email : undefined, isVerified) : []),
      ...claimCells(claims ?? someClaims, columns, claims === undefined),
      ...hashed,
    ]
    if (cells.length === 0) return before
    if (!(await isAllowed())) return undefined
    // A column can be the name and the address.
    const once = [...new Map(cells.map((cell) => [cell[0], cell])).values()]
    const [, , address = null, , hash = null] = row
    const former = [[options.columns.password, hash] as const]
    const unchanged = [
      ...(password === undefined ? [] : former),
      ...(email === undefined || version === undefined ? [] : [[columns.email, address] as const]),
    ]
    const update = () => rows.update(sub, once, unchanged)
    try {
      if (!(await update())) return undefined
    } catch (error) {
      // The unique index refuses an address that is taken, but each database reports this in another way.
      const [owner, sameName] = await Promise.all([
        email === undefined ? undefined : rows.rowBy('byEmail', email),
        username === undefined ? undefined : rows.rowBy('byName', username),
      ])
      if ((sameName?.[0] ?? sub) !== sub) return 'taken' as const
      if ((owner?.[0] ?? sub) === sub) throw error
      if (!(await release(email, isVerified))) return 'taken' as const
      if (!(await update())) return undefined
    }
    if (password === undefined) return reader.find(sub)
    let isStillTrue = false
    try {
      isStillTrue = await isAllowed()
    } finally {
      // A revocation in between takes precedence, and so does a failure to read whether there was one.
      if (!isStillTrue) await rows.update(sub, former, hashed)
    }
    return isStillTrue ? reader.find(sub) : undefined
  }
}
