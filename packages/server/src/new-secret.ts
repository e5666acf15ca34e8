import { randomBytes } from 'node:crypto'

/** Generates a secret of 256 bits for a client, an API or the key encryption. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
