import {
  inexactNumber,
  inexactNumberIn,
  isKept,
  isObject,
  parseJsonText,
  quotableName,
  vanished,
  vanishes,
} from '@grantry/core'
import type { JSONVisitor, ParseErrorCode } from 'jsonc-parser'

/** Messages by the error code of jsonc-parser. */
const errorTexts: Readonly<Record<ParseErrorCode, string>> = {
  1: 'unexpected character',
  2: 'invalid number',
  3: 'a property name in double quotes is missing',
  4: 'a value is missing',
  5: 'a colon is missing',
  6: 'a comma is missing',
  7: 'a closing brace } is missing',
  8: 'a closing bracket ] is missing',
  9: 'unexpected content after the end of the document',
  10: 'comments are not allowed here',
  11: 'the comment is not closed',
  12: 'the string is not closed',
  13: 'the number is incomplete',
  14: '\\u must be followed by four hexadecimal digits',
  15: 'invalid escape sequence; write \\\\ for a backslash',
  16: 'the string contains a control character; write \\n for a line break and \\t for a tab',
}

/** The maximum depth of nested arrays and objects: the parser, and the code that reads its result, are recursive. */
const maxDepth = 100

const position = (line: number, column: number): string => `line ${line + 1}, column ${column + 1}`

/** A string of valid JSON, with the colon after it if it is a name. */
const textOrName = /"(?:[^"\\]|\\.)*"\s*(:?)/gu

/** Returns the number of names in the objects of a value, or NaN if only the other parser can judge it. */
function namesIn(value: unknown, depth = 0): number {
  if (!isObject(value)) return 0
  if (depth === maxDepth) return Number.NaN
  const names = Array.isArray(value) ? [] : Object.keys(value)
  if (names.includes('__proto__')) return Number.NaN
  return Object.values(value).reduce((sum: number, member) => sum + namesIn(member, depth + 1), names.length)
}

/**
 * Parses JSON without comments, the usual case, without loading the parser that knows where a problem is: it takes a
 * twentieth of the time of a command.
 *
 * @returns `undefined` if there is a problem. A duplicate name is noticed because the value has fewer names than the text
 */
function parsePlain(text: string, numbers: 'exact' | 'any'): { readonly value: unknown } | undefined {
  try {
    const value = parseJsonText(text)
    if (numbers === 'exact' && inexactNumberIn(value) !== undefined) return undefined
    let written = 0
    for (const [, colon] of text.matchAll(textOrName)) if (colon === ':') written += 1
    return namesIn(value) === written ? { value } : undefined
  } catch {
    return undefined
  }
}

/**
 * Parses JSON with comments and trailing commas. Rejects duplicate names, because the last one would silently override
 * the first, and `__proto__`, which would set the prototype of the object.
 *
 * @param numbers `any`: the caller looks for numbers that JSON does not keep exactly. Those that would vanish are infinite
 * @throws TypeError with line, column and problem. It does not quote a value.
 */
export async function parseJson(text: string, numbers: 'exact' | 'any' = 'exact'): Promise<unknown> {
  const plain = parsePlain(text, numbers)
  if (plain !== undefined) return plain.value
  const { parse, visit } = await import('jsonc-parser')
  const names: Map<string, number>[] = []
  const problems: string[] = []
  /** Where numbers are that would vanish. */
  const vanishing: { readonly offset: number; readonly length: number }[] = []
  let depth = 0
  const enter = (line: number, column: number): void => {
    depth += 1
    if (depth > maxDepth)
      throw new TypeError(`${position(line, column)}: more than ${maxDepth} arrays and objects are nested`)
  }
  const visitor: JSONVisitor = {
    onError: (error, _offset, _length, line, column) =>
      void problems.push(`${position(line, column)}: ${errorTexts[error]}`),
    onLiteralValue(value: unknown, offset, length, line, column) {
      if (typeof value !== 'number') return
      const literal = text.slice(offset, offset + length)
      if (numbers === 'exact' && !isKept(literal)) problems.push(`${position(line, column)}: this ${inexactNumber}`)
      if (vanishes(literal)) vanishing.push({ offset, length })
    },
    onArrayBegin: (_offset, _length, line, column) => enter(line, column),
    onArrayEnd() {
      depth -= 1
    },
    onObjectBegin(_offset, _length, line, column) {
      enter(line, column)
      names.push(new Map())
    },
    onObjectEnd() {
      depth -= 1
      names.pop()
    },
    onObjectProperty(name, _offset, _length, line, column) {
      const lines = names.at(-1)
      const first = lines?.get(name)
      if (first !== undefined) {
        problems.push(
          `${position(line, column)}: duplicate name ${JSON.stringify(quotableName(name))}, first used on line ${first + 1}`,
        )
      } else if (name === '__proto__') problems.push(`${position(line, column)}: "__proto__" is not allowed as a name`)
      lines?.set(name, line)
    },
  }
  visit(text, visitor, { allowTrailingComma: true })
  const [problem] = problems
  if (problem !== undefined) throw new TypeError(problem)
  const marked = vanishing.reduceRight(
    (rest, { offset, length }) => rest.slice(0, offset) + vanished + rest.slice(offset + length),
    text,
  )
  return parse(marked, [], { allowTrailingComma: true })
}
