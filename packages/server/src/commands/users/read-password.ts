import { passwordProblem } from '@grantry/administration'
import { Option } from 'commander'
import { readSecretly } from '../read-secretly.ts'

/**
 * Reads a new password: on a terminal twice, otherwise the first line of standard input.
 *
 * @throws TypeError with a one-line message that does not contain it
 */
export async function readNewPassword(): Promise<string> {
  const password = await readSecretly('New password: ')
  if (password === '') throw new TypeError('the password is empty; type one, or pass one on standard input')
  const problem = passwordProblem(password)
  if (problem !== undefined) throw new TypeError(`the password ${problem}`)
  if (process.stdin.isTTY === true && (await readSecretly('Again: ')) !== password)
    throw new TypeError('the passwords differ; try again')
  return password
}

/** Refuses a password on the command line without repeating it. */
export const noPasswordOption = (): Option =>
  new Option('--password <password>').hideHelp().argParser(() => {
    throw new TypeError(
      'a password on the command line is visible to other users of this machine; type it when asked, or pass it on standard input',
    )
  })
