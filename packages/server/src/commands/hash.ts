import { text } from 'node:stream/consumers'
import { hashSecret } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import type { Command } from 'commander'
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
async function hashPasswordCommand(): Promise<string> {
  const password = await readSecretly('Password: ')
  if (password === '') throw new TypeError('the password is empty; type one, or pass one on standard input')
  return `${await hashPassword(password)}\n`
}

/** Adds `grantry hash-secret` and `grantry hash-password`. */
export function addHashCommands(grantry: Command): void {
  grantry
    .command('hash-secret')
    .argument(
      '[secret]',
      'the secret, or - to read it from standard input (other users of this machine can see arguments); if omitted, a new secret is generated and shown once',
    )
    .description('print the hash to store for the secret of a client or scope')
    // 1 in 64 secrets starts with a dash. As an unknown option, the error would print it.
    .allowUnknownOption()
    .action(async (secret: string | undefined) => {
      process.stdout.write(await hashSecretCommand(secret))
    })

  grantry
    .command('hash-password')
    .description("print the hash to store for a user's password; prompts for it, or reads it from standard input")
    .action(async () => {
      process.stdout.write(await hashPasswordCommand())
    })
}
