import { messageOf } from '../message-of.ts'

/** What the provider says of a mistake, in words of the configuration: who wrote that has called no function. */
export const ownSentence = (cause: unknown): string => messageOf(cause).replace(/^createProvider\(\): /u, '')

/** The same, told of the file that the operator wrote. */
export const inFile = (cause: unknown, file: string): Error =>
  new TypeError(`${file}: ${ownSentence(cause)}`, { cause })
