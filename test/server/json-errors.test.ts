import { describe, expect, test } from 'vitest'
import { parseJson } from '../../packages/server/src/configuration/parse-json.ts'
import { healthy, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

describe('rejects invalid JSON with line, column and reason', () => {
  test.each([
    ['a comma', '{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: a comma is missing'],
    ['a colon', '{ "a" 1 }', 'line 1, column 7: a colon is missing'],
    ['a value', '{ "a": }', 'line 1, column 8: a value is missing'],
    ['a brace', '{ "a": 1', 'line 1, column 9: a closing brace } is missing'],
    ['a bracket', '{ "a": [1 }', 'line 1, column 11: a comma is missing'],
    ['everything', '', 'line 1, column 1: a value is missing'],
    ['a quotation mark', '{ "a": "b }', 'line 1, column 8: the string is not closed'],
    ['the quotation marks of a name', '{\n a: 1 }', 'line 2, column 2: unexpected character'],
    [
      'a valid escape',
      '{ "directory": "C:\\data" }',
      'line 1, column 16: invalid escape sequence; write \\\\ for a backslash',
    ],
    ['the end of a comment', '{} /* x', 'line 1, column 4: the comment is not closed'],
    ['an end', '{} {}', 'line 1, column 4: unexpected content after the end of the document'],
    ['a colon, with Windows line breaks', '{\r\n  "a": 1,\r\n  "b" 2\r\n}', 'line 3, column 7: a colon is missing'],
  ])('missing: %s', async (_what, text, sentence) => {
    await expect(parseJson(text)).rejects.toMatchObject({ name: 'TypeError', message: sentence })
  })

  test('does not quote values, which can be secrets', async () => {
    await expect(parseJson('{ "password": "the-secret }')).rejects.not.toThrow('the-secret')
  })
})

describe('a duplicate name in an object', () => {
  test('is rejected with both lines', async () => {
    await expect(parseJson('{\n  "issuer": "a",\n  "clients": [],\n  "issuer": "b"\n}')).rejects.toMatchObject({
      name: 'TypeError',
      message: 'line 4, column 3: duplicate name "issuer", first used on line 2',
    })
  })

  test('is rejected in a nested object, and if it is escaped', async () => {
    const text = '{ "clients": [{ "public": true, "secrets": [], "p\\u0075blic": false }] }'
    await expect(parseJson(text)).rejects.toThrow('line 1, column 48: duplicate name "public"')
  })

  test('is accepted in different objects', async () => {
    const text = '{ "a": { "x": 1 }, "b": [{ "x": 2 }, { "x": 3 }], "x": 4 }'
    await expect(parseJson(text)).resolves.toEqual(JSON.parse(text))
  })

  test('attack: __proto__ is rejected as a name', async () => {
    await expect(parseJson('{ "clients": [{ "__proto__": { "enabled": true } }] }')).rejects.toThrow(
      'line 1, column 17: "__proto__" is not allowed as a name',
    )
  })
})

describe('what is JSON without comments', () => {
  // What could be taken for a name, or hide one.
  test.each([
    '{ "a": "\\"b\\": 1", "c" : ["d:", "e\\\\", "f"] }',
    '{ "a": ["b", "c"], "d": {}, "e": [{ "a": null }], "\\"": "\\\\" }',
    '{ "": 0, " ": { "": "" } }',
    '[[["a"]]]',
    '"a"',
    ' 1 ',
    `${'['.repeat(100)}${']'.repeat(100)}`,
  ])('is what JSON.parse returns: %s', async (text) => {
    await expect(parseJson(text)).resolves.toEqual(JSON.parse(text))
  })

  test.each([
    ['{ "a": "\\"b\\": 1", "a": ["b:"] }', 'duplicate name "a"'],
    ['{ "a": { "b": 1, "b": 2 }, "c": { "d": 1 } }', 'duplicate name "b"'],
    ['{ "a": 9007199254740993 }', 'is a number that JSON does not keep exactly'],
    [`${'['.repeat(101)}${']'.repeat(101)}`, 'more than 100 arrays and objects are nested'],
  ])('is refused like the same with comments: %s', async (text, problem) => {
    await expect(parseJson(text)).rejects.toThrow(problem)
    await expect(parseJson(`${text} // a`)).rejects.toThrow(problem)
  })
})

test('comments and trailing commas are allowed', async () => {
  await expect(parseJson('// one\n{ "a": [1, 2,], /* two */ "b": {}, }\n')).resolves.toEqual({ a: [1, 2], b: {} })
})

test('the command line names the file', async () => {
  const { file } = written(`${JSON.stringify(healthy).slice(0, -1)},"issuer":"https://other.example.com"}`)
  const { code, err } = await printed('serve', '--config', file)
  expect(code).toBe(1)
  expect(err).toMatch(/^grantry: \S+: line 1, column \d+: duplicate name "issuer", first used on line 1\n$/u)
  expect(err).toContain(file)
})
