import { messageOf } from '../message-of.ts'

/** The provider's own sentence, told of the file that the operator wrote. */
export function inFile(cause: unknown, file: string): Error {
  return new TypeError(`${file}: ${messageOf(cause).replace(/^createProvider\(\): /u, '')}`, { cause })
}
