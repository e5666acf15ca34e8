import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { hashPassword } from '../users/password-hash.ts'

/** The first line of standard input; at a terminal it is asked for, and what is typed does not show. */
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

/** `grantry hash-password`: what to store as a user's `password`. */
export async function hashPasswordCommand(): Promise<string> {
  const password = await readPassword()
  if (password === '') throw new TypeError('the password is empty; type one, or send one to standard input')
  return `${await hashPassword(password)}\n`
}
