import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as v from 'valibot'
import { fileErrorReason } from '../error-message.ts'
import { text } from './storage/fields.ts'

/** The maximum size in bytes. Passwords of clouds can be signed tokens of several thousand bytes. */
const maxBytes = 65_536

/** The members of a database for its password, beside those in a URL. */
export const passwordEntries = {
  password: v.optional(text('the password of the database')),
  /** A file with the password, read for each new connection: a password that changes needs no restart. */
  passwordFile: v.optional(text('the path of a file with the password')),
} as const

type PasswordSettings = v.InferInput<v.ObjectSchema<typeof passwordEntries, undefined>>

function readPassword(path: string, member: string): string {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TypeError(`${member}: cannot read ${path} (${fileErrorReason(cause)})`, { cause })
  }
  const password = content.replace(/\r?\n$/u, '')
  if (password === '' || password.length > maxBytes) throw new TypeError(`${member}: ${path} contains no password`)
  return password
}

/**
 * Returns the password of a database, or a function that reads it from its file; `undefined` if there is none.
 *
 * @param directory that of the configuration
 * @param path the object in the configuration, and `name` the member in it, for errors
 * @throws TypeError when both are set, or the file cannot be read now
 */
export function passwordOf(
  { password, passwordFile }: PasswordSettings,
  directory: string,
  path: string,
  name = 'passwordFile',
): string | (() => string) | undefined {
  if (passwordFile === undefined) return password
  const member = `${path}.${name}`
  if (password !== undefined) throw new TypeError(`${member}: there is a password, too; remove one of them`)
  const file = resolve(directory, passwordFile)
  const read = (): string => readPassword(file, member)
  read()
  return read
}
