import { foldedPassword, type MaybePromise } from '@grantry/core'

/** Why a user cannot have a password. */
export type PasswordProblem =
  | 'password_short'
  | 'password_long'
  | 'password_malformed'
  | 'password_personal'
  | 'password_common'

export interface PasswordRules {
  /** Characters. */
  readonly least: number
  readonly most: number
  /** Whether a password is among those that attackers try first. Absent: none is. */
  readonly isCommon?: ((password: string) => MaybePromise<boolean>) | undefined
}

/** Characters of a word that must not be the password, alone or repeated. */
const shortestWord = 3

const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** What the user, or the service, is called. The parts of an address count alone, too. */
const wordsOf = (names: readonly string[]): readonly string[] =>
  names
    .flatMap((name) => [name, ...name.split(/[@.\s]/u)])
    .map(folded)
    .filter((word) => word.length >= shortestWord)

/** Whether nothing is left of a password but digits and signs, when the words are removed. */
function consistsOf(words: readonly string[], password: string): boolean {
  const longestFirst = [...words].sort((left, right) => right.length - left.length)
  const rest = longestFirst.reduce((text, word) => text.replaceAll(word, ''), folded(password))
  return rest !== folded(password) && /^[\p{N}\p{P}\p{S}\s]*$/u.test(rest)
}

/**
 * Returns why a user cannot have this password; `undefined` if the user can. No rule demands digits or signs: they make
 * users choose worse passwords.
 *
 * @param names what the user and the service are called
 * @see NIST SP 800-63B-4 section 3.1.1.2
 */
export async function passwordProblem(
  typed: string,
  names: readonly string[],
  { least, most, isCommon }: PasswordRules,
): Promise<PasswordProblem | undefined> {
  // Characters as users see them, not UTF-16 units. A longer text is not counted.
  if (typed.length > most * 2) return 'password_long'
  const password = foldedPassword(typed)
  const { length } = [...password]
  if (length > most) return 'password_long'
  if (length < least) return 'password_short'
  if (/[\p{Cc}]/u.test(password) || password.trim() === '') return 'password_malformed'
  if (consistsOf(wordsOf(names), password)) return 'password_personal'
  return (await isCommon?.(password)) === true ? 'password_common' : undefined
}
