import { settled } from '../folded-text.ts'

/**
 * Format and control characters, combining and enclosing marks, fillers and white space: invisible characters that a
 * user service may ignore.
 */
const ignorable = /[\p{Cf}\p{Cc}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\s]/gu

const visibleAscii = /^[!-~]*$/u

/**
 * Maps all spellings of a name to one string, under which failures are counted. If the user service ignores case, marks
 * or invisible characters, each spelling would otherwise have its own limit. Names that map to the same string only
 * share a limit.
 *
 * @example
 * foldedName('\u00C1l\u00ADice ') // 'ALICE'
 */
export const foldedName = settled((counted) => {
  // The usual names need no more, in a quarter of the time.
  if (visibleAscii.test(counted)) return counted.toUpperCase()
  // Lower case before upper case, because only this maps the capital sharp s to SS.
  return counted.normalize('NFKD').replace(ignorable, '').toLowerCase().toUpperCase()
})
