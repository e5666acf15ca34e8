import { text } from 'node:stream/consumers'
import { hashSecret } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { newSecret } from '../new-secret.ts'
import { readSecretly } from './read-secretly.ts'

// Only the final line break is removed: spaces are part of the secret.
const fromStandardInput = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/u, '')

/** Runs `grantry hash-secret`. Without a secret it generates one of 256 bits and includes it in the output. */
export async function hashSecretCommand(argument: string | undefined): Promise<string> {
  const secret = argument === '-' ? await fromStandardInput() : (argument ?? newSecret())
  if (secret === '') throw new TypeError('the secret is empty; pass a secret, or omit the argument to generate one')
  const shown = argument === undefined ? `secret   ${secret}\n` : ''
  return `${shown}store    { "sha256": "${hashSecret(secret).sha256}" }\n`
}

/** Runs `grantry hash-password`. Returns what to store as a user's `password`. */
export async function hashPasswordCommand(): Promise<string> {
  const password = await readSecretly('Password: ')
  if (password === '') throw new TypeError('the password is empty; type one, or pass one on standard input')
  return `${await hashPassword(password)}\n`
}
