import { messageOf } from '../message-of.ts'

/** Returns the message of an error without the `createProvider(): ` prefix: the operator has not called a function. */
export const ownSentence = (cause: unknown): string => messageOf(cause).replace(/^createProvider\(\): /u, '')

/** Wraps an error so that its message starts with the file that the operator wrote. */
export const inFile = (cause: unknown, file: string): Error =>
  new TypeError(`${file}: ${ownSentence(cause)}`, { cause })
