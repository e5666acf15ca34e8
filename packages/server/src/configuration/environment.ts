import { readFileSync } from 'node:fs'

type Environment = Readonly<Record<string, string | undefined>>

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu

/** What a file holds that a secret store has put there, without the end of its line. */
function inFile(file: string, name: string, path: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/u, '')
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    throw new TypeError(`${path} needs the file that ${name}_FILE names, ${file}, which cannot be read (${code})`)
  }
}

function variableOf(name: string, path: string, environment: Environment): string {
  // Only what was set: every object has a `constructor`, and a secret of that name would be known to everybody.
  const setIn = (variable: string) => (Object.hasOwn(environment, variable) ? environment[variable] : undefined)
  const value = setIn(name)
  if (value !== undefined) return value
  const file = setIn(`${name}_FILE`)
  if (file !== undefined) return inFile(file, name, path)
  throw new TypeError(
    `${path} needs the environment variable ${name}, which is not set; set it, or write it into grantry.env beside the configuration`,
  )
}

/**
 * Replaces `${NAME}` in every text of a configuration by the variable of that name, or by what the file holds that `NAME_FILE` names: Docker and
 * systemd hand over secrets as files, since whoever sees a process sees its environment.
 *
 * @throws TypeError that names the path and the variable when it is not set, or the file when it cannot be read.
 */
export function withEnvironment(value: unknown, environment: Environment, path = ''): unknown {
  if (typeof value === 'string')
    return value.replaceAll(reference, (_, name: string) => variableOf(name, path, environment))
  if (Array.isArray(value)) return value.map((item, index) => withEnvironment(item, environment, `${path}[${index}]`))
  // Only plain objects: what a module configuration made itself (a user service, a plugin) is left alone.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    withEnvironment(item, environment, path === '' ? key : `${path}.${key}`),
  ])
  return Object.fromEntries(entries)
}
