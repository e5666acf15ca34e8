/** Format and control characters, combining and enclosing marks, fillers, white space: what a user service may ignore, and a reader does not see. */
const ignorable = /[\p{Cf}\p{Cc}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\s]/gu

/**
 * The form under which failures of a name are counted, however the name is written. A host that ignores case, marks or invisible characters would
 * otherwise give each spelling guesses of its own. Two names with one form share a limit, and nothing else.
 *
 * @example
 * foldedName('\u00C1l\u00ADice ') // 'ALICE'
 */
export const foldedName = (name: string): string =>
  // Lower case before upper case: the capital sharp s has no other way to SS.
  name.normalize('NFKD').replace(ignorable, '').toLowerCase().toUpperCase()
