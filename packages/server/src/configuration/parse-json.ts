import type { JSONVisitor, ParseErrorCode } from 'jsonc-parser'

/** By the codes of jsonc-parser, whose own names are for programs. */
const words: Readonly<Record<ParseErrorCode, string>> = {
  1: 'a character is out of place here',
  2: 'a number is malformed',
  3: 'the name of a property, in double quotes, is missing',
  4: 'a value is missing',
  5: 'a colon is missing',
  6: 'a comma is missing',
  7: 'a closing brace } is missing',
  8: 'a closing bracket ] is missing',
  9: 'there is something after the end',
  10: 'a comment is not allowed here',
  11: 'a comment has no end',
  12: 'a text has no closing quotation mark',
  13: 'a number has no end',
  14: 'a \\u in a text needs four hexadecimal digits',
  15: 'an escape in a text is none; write \\\\ for a backslash',
  16: 'a text has a control character; write \\n for a new line and \\t for a tab',
}

const at = (line: number, column: number): string => `line ${line + 1}, column ${column + 1}`

/**
 * Reads JSON with comments and trailing commas. A name that stands twice in one object is refused: only the last one would count, and the first is the one that a
 * reader sees. So is `__proto__`, which would set the prototype of the object.
 *
 * @throws TypeError that says line, column and what is wrong, and quotes no value.
 */
export async function parseJson(text: string): Promise<unknown> {
  const { parse, visit } = await import('jsonc-parser')
  const names: Map<string, number>[] = []
  const problems: string[] = []
  const visitor: JSONVisitor = {
    onError: (error, _offset, _length, line, column) => void problems.push(`${at(line, column)}: ${words[error]}`),
    onObjectBegin: () => void names.push(new Map()),
    onObjectEnd: () => void names.pop(),
    onObjectProperty(name, _offset, _length, line, column) {
      const own = names.at(-1)
      const first = own?.get(name)
      if (first !== undefined) {
        problems.push(
          `${at(line, column)}: ${JSON.stringify(name)} stands twice in one object, first on line ${first + 1}`,
        )
      } else if (name === '__proto__') problems.push(`${at(line, column)}: "__proto__" is not allowed as a name`)
      own?.set(name, line)
    },
  }
  visit(text, visitor, { allowTrailingComma: true })
  const [problem] = problems
  if (problem !== undefined) throw new TypeError(problem)
  return parse(text, [], { allowTrailingComma: true })
}
