/** The provider's own sentence, told of the file that the operator wrote. */
export function inFile(cause: unknown, file: string): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new TypeError(`${file}: ${message.replace(/^createProvider\(\): /u, '')}`, { cause })
}
