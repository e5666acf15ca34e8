import { inexactNumber, isKept, type Json, parseExactJson } from '@grantry/core'
import { isNumber } from '../number.ts'

/** A claim, with its column and type. */
export interface ClaimColumn {
  readonly claim: string
  readonly column: string
  readonly type: 'string' | 'number' | 'boolean' | 'json'
}

const yes: readonly string[] = ['true', 't', '1']
const no: readonly string[] = ['false', 'f', '0']

/** Whether a column has a value. Databases return a boolean as `true`, `t` or `1`. */
export function hasValue(text: string | null, value: string | number | boolean | null): boolean {
  if (value === null || text === null) return text === value
  if (typeof value === 'boolean') return (value ? yes : no).includes(text)
  return text === String(value)
}

/**
 * Whether a text is a mail address.
 *
 * @param isName whether the column also has the names, some of which are no addresses
 */
export const isAddress = (text: string, isName: boolean): boolean => text !== '' && (!isName || text.includes('@'))

/** Returns the value of a claim; `undefined` if the column is empty. @throws TypeError if it is of another type */
export function claimValue(text: string | null, { claim, column, type }: ClaimColumn): Json | undefined {
  if (text === null) return undefined
  if (type === 'string') return text
  const wrong = (): TypeError =>
    new TypeError(`users.columns.claims.${claim}: a value of the column ${column} is not of the type ${type}`)
  if (type === 'boolean') {
    if (yes.includes(text)) return true
    if (no.includes(text)) return false
    throw wrong()
  }
  if (type === 'number') {
    if (!isNumber(text)) throw wrong()
    if (isKept(text)) return Number(text)
    throw new TypeError(
      `users.columns.claims.${claim}: a value of the column ${column} ${inexactNumber}: give it the type string`,
    )
  }
  try {
    return parseExactJson(text) as Json
  } catch {
    throw wrong()
  }
}
