import { randomBytes } from 'node:crypto'

/** Generates a secret of 256 bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
