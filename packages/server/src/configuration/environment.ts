import { readFileSync } from 'node:fs'
import { configurationError, type JsonObject, quotableName } from '@grantry/core'
import { errorMessage, fileErrorReason } from '../error-message.ts'
import { isNamedPlugin } from './named-plugins.ts'

type Environment = Readonly<Record<string, string | undefined>>

// A reference such as `${NAME}`. A second dollar sign before it makes it text.
const reference = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu

const variableSchema: JsonObject = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

/**
 * Accepts a variable where a JSON Schema narrows a text: any string of a configuration can be `${NAME}`, which is replaced
 * before validation.
 */
export function orVariable(schema: JsonObject): JsonObject {
  const isNarrow = schema.enum !== undefined || schema.pattern !== undefined || Number(schema.minLength ?? 0) > 1
  return isNarrow ? { anyOf: [schema, variableSchema] } : schema
}

/** Returns a text that `withEnvironment()` replaces by the given one: what looks like a reference in it is text. */
export const withoutReferences = (text: string): string => text.replaceAll(reference, '$$$&')

/** Returns the names of the variables that a text refers to. */
export const referencedNames = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(reference)].flatMap(([, , name]) => name ?? [])),
]

/** Reads a secret from a file, without its final line break. */
function readSecretFile(file: string, name: string, path: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/u, '')
  } catch (cause) {
    throw new TypeError(`${path}: cannot read the file ${file}, named by ${name}_FILE (${fileErrorReason(cause)})`)
  }
}

function variableOf(name: string, path: string, environment: Environment): string {
  // Own properties only: `${constructor}` must not become the inherited value, which is public.
  const setIn = (variable: string) => (Object.hasOwn(environment, variable) ? environment[variable] : undefined)
  const value = setIn(name)
  if (value !== undefined) return value
  const file = setIn(`${name}_FILE`)
  if (file !== undefined) return readSecretFile(file, name, path)
  throw new TypeError(
    `${path} needs the environment variable ${name}, which is not set; set it, or add it to grantry.env next to the configuration`,
  )
}

/** Only plain objects: instances in a module configuration, such as a user service of a class, are not data. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Whether a value is a plugin. The objects in it are compared by identity, such as the schemas that plugins share. */
const isPlugin = (value: unknown, path: string): boolean =>
  /^plugins(?:\[\d+\])+$/u.test(path) && !Array.isArray(value) && !isNamedPlugin(value)

/**
 * Replaces `${NAME}` in every string of a configuration with the environment variable, or with the content of the file
 * that `NAME_FILE` names. Docker and systemd provide secrets as files, because other processes can read an environment.
 * `$${NAME}` stands for the text `${NAME}`. As the user or the password of a URL, such as
 * `smtps://id:${PASSWORD}@mail.example.com`, a variable is percent-encoded: `/`, `#` and `%` in it are characters of the
 * password. A variable that is the whole URL is left as it is. Plugins, and objects in which nothing is replaced, are returned as they are,
 * not as copies: functions of a module configuration could refer to them.
 *
 * @throws TypeError that names the path and the variable if it is not set, or the file if it cannot be read, for each
 * reference.
 */
export function withEnvironment(value: unknown, environment: Environment): unknown {
  const problems: string[] = []
  const replaced = replace(value, '', (name, path, encode) => {
    try {
      return encode(variableOf(name, path, environment))
    } catch (cause) {
      problems.push(errorMessage(cause))
      return ''
    }
  })
  const [first, ...others] = problems
  if (first !== undefined) throw configurationError([first, ...others])
  return replaced
}

/**
 * Returns where the user and the password end in a text that is a URL; 0 if it has none. Characters that end them in a
 * URL can be in a variable, so the text before the replacement decides.
 */
function endOfCredentials(text: string): number {
  const [, start = '', authority = ''] =
    /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*)/iu.exec(text.replaceAll(reference, (match) => 'x'.repeat(match.length))) ?? []
  const end = authority.lastIndexOf('@')
  return end === -1 ? 0 : start.length + end
}

function replaceIn(text: string, path: string, variable: ReadVariable): string {
  const end = endOfCredentials(text)
  return text.replaceAll(reference, (match, secondDollar: string, name: string, offset: number) => {
    if (secondDollar !== '') return match.slice(1)
    return variable(name, path, offset < end ? encodeURIComponent : (value) => value)
  })
}

type ReadVariable = (name: string, path: string, encode: (value: string) => string) => string

function replace(value: unknown, path: string, variable: ReadVariable): unknown {
  if (typeof value === 'string') return replaceIn(value, path, variable)
  if (Array.isArray(value)) {
    const items = value.map((item, index) => replace(item, `${path}[${index}]`, variable))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isPlain(value) || isPlugin(value, path)) return value
  const before = Object.entries(value)
  const entries = before.map(([key, item]): [string, unknown] => [
    key,
    replace(item, path === '' ? quotableName(key) : `${path}.${quotableName(key)}`, variable),
  ])
  return entries.every(([, item], index) => item === before[index]?.[1]) ? value : Object.fromEntries(entries)
}
