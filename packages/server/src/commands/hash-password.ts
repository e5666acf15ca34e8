import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { hashPassword } from '../users/password-hash.ts'

/** Reads the first line of standard input. On a terminal it prompts and does not echo. */
function readPassword(): Promise<string> {
  const terminal = process.stdin.isTTY === true
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  if (terminal) process.stderr.write('Password: ')
  const lines = createInterface({ input: process.stdin, output: silent, terminal })
  return new Promise((resolve) => {
    let password = ''
    lines.once('line', (line) => {
      password = line
      lines.close()
    })
    lines.once('close', () => {
      if (terminal) process.stderr.write('\n')
      resolve(password)
    })
  })
}

/** Runs `grantry hash-password`. Returns what to store as a user's `password`. */
export async function hashPasswordCommand(): Promise<string> {
  const password = await readPassword()
  if (password === '') throw new TypeError('the password is empty; type one, or pass one on standard input')
  return `${await hashPassword(password)}\n`
}
