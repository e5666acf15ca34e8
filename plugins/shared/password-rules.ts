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

/** The minimum length in characters of a word that counts as a name. A password must not consist of such words. */
const shortestWord = 3

const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Returns the words in the names of the user and the service, including the parts of an address. */
const wordsOf = (names: readonly string[]): readonly string[] =>
  names
    .flatMap((name) => [name, ...name.split(/[@.\s]/u)])
    .map(folded)
    .filter((word) => word.length >= shortestWord)

/** Whether a password has only digits and signs left after the words are removed. */
function consistsOf(words: readonly string[], password: string): boolean {
  const longestFirst = [...words].sort((left, right) => right.length - left.length)
  const rest = longestFirst.reduce((text, word) => text.replaceAll(word, ''), folded(password))
  return rest !== folded(password) && /^[\p{N}\p{P}\p{S}\s]*$/u.test(rest)
}

/**
 * Returns why a user cannot have this password; `undefined` if the user can. No rule demands digits or signs, because
 * such rules make users choose worse passwords.
 *
 * @param names the names of the user and the service
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
