import { text } from 'node:stream/consumers'
import { hashSecret } from '@grantry/core'
import { newSecret } from '../secret.ts'

/** A secret ends before the end of a line; spaces around it are part of it. */
const fromStandardInput = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/u, '')

/** `grantry hash-secret`: what to store for a secret; without one it makes one of 256 bits and shows it once. */
export async function hashSecretCommand(given: string | undefined): Promise<string> {
  const secret = given === '-' ? await fromStandardInput() : (given ?? newSecret())
  if (secret === '') throw new TypeError('the secret is empty; give one, or none at all to have one made')
  const shown = given === undefined ? `secret   ${secret}\n` : ''
  return `${shown}store    { "sha256": "${hashSecret(secret).sha256}" }\n`
}
