import { createHash, randomBytes } from 'node:crypto'

/** A secret of 256 bits for a client, an API or the keys. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** What a configuration holds of a secret: the base64 of the SHA-256 of its UTF-8. */
export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret, 'utf8').digest('base64')
