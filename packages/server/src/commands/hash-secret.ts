import { hashOfSecret, newSecret } from '../secret.ts'

/** `grantry hash-secret`: what to store for a secret; without one it makes one of 256 bits and shows it once. */
export function hashSecretCommand(given: string | undefined): string {
  if (given === '') throw new TypeError('the secret is empty; give one, or none at all to have one made')
  const secret = given ?? newSecret()
  const shown = given === undefined ? `secret   ${secret}\n` : ''
  return `${shown}store    { "sha256": "${hashOfSecret(secret)}" }\n`
}
