import { randomBytes } from 'node:crypto'

/** A secret of 256 bits for a client, an API or the keys. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
