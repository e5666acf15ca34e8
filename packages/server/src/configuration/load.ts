import { lstatSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { errorInFile, fileErrorReason } from '../error-message.ts'
import { withEnvironment } from './environment.ts'
import { readEnvironmentFile } from './environment-file.ts'
import { importModule } from './import-module.ts'
import { loadPluginsOf } from './named-plugins.ts'
import { parseJson } from './parse-json.ts'
import { type CheckedConfiguration, configurationSchema } from './schema.ts'

/** A configuration, its file, and the directory that its relative paths are resolved against. */
export interface LoadedConfiguration {
  readonly configuration: CheckedConfiguration
  readonly file: string
  readonly directory: string
}

const defaultFileNames = ['grantry.config.json', 'grantry.config.ts', 'grantry.config.mjs'] as const

/**
 * Whether a file exists. Unlike `existsSync`, it does not report a file as missing if the user lacks access.
 *
 * @throws TypeError with a one-line message if the user lacks access.
 */
function fileExists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw new TypeError(`cannot read ${file} (${fileErrorReason(cause)}); grant this user read access`, { cause })
  }
}

const root = 0

/**
 * A configuration can load code, so a file that another user has left in a directory for all users, such as /tmp, is used
 * only if the operator names it.
 *
 * @throws TypeError with a one-line message.
 */
function assertNotPlanted(file: string): void {
  const user = process.getuid?.()
  if (user === undefined || (statSync(dirname(file)).mode & 0o002) === 0) return
  const { uid } = lstatSync(file)
  if (uid === user || uid === root) return
  throw new TypeError(
    `${file} belongs to another user (${uid}), and all users can write to its directory; if it is yours, name it with --config`,
  )
}

/**
 * Returns the path of the configuration in this directory, if there is one.
 *
 * @throws TypeError with a one-line message if the user lacks access, or another user may have put it there.
 */
export function findConfiguration(directory: string): string | undefined {
  const file = defaultFileNames.map((name) => resolve(directory, name)).find(fileExists)
  if (file !== undefined) assertNotPlanted(file)
  return file
}

export type Variables = Readonly<Record<string, string | undefined>>

/**
 * Merges variables. The environment takes precedence, also with `NAME_FILE`, so that an old secret does not override a
 * new one.
 */
function variablesOf(inFile: Variables, environment: Variables): Variables {
  const left = Object.entries(inFile).filter(([name]) => environment[`${name}_FILE`] === undefined)
  return { ...Object.fromEntries(left), ...environment }
}

/** Returns the variables for files beside the configuration in this directory. */
export const variablesFor = (directory: string, environment: Variables): Variables =>
  variablesOf(readEnvironmentFile(directory), environment)

/** A configuration file as it is written, and the variables for it. */
export interface WrittenConfiguration {
  readonly file: string
  readonly source: unknown
  readonly variables: Variables
}

/** Whether the configuration is code. */
export const isModule = (file: string): boolean => ['.ts', '.mjs', '.js'].includes(extname(file))

/** @throws TypeError with a one-line message that starts with the file. */
export async function readConfiguration(path: string, environment: Variables): Promise<WrittenConfiguration> {
  const file = resolve(path)
  if (!fileExists(file)) throw new TypeError(`${file}: the file does not exist`)
  try {
    const source = isModule(file) ? await importModule(file) : await parseJson(await readFile(file, 'utf8'))
    return { file, source, variables: variablesFor(dirname(file), environment) }
  } catch (cause) {
    throw errorInFile(cause, file)
  }
}

/**
 * Reads a configuration file, substitutes environment variables and validates the result.
 *
 * @throws TypeError with a one-line message that starts with the file and names the path in it.
 */
export async function loadConfiguration(path: string, environment: Variables): Promise<LoadedConfiguration> {
  const { file, source, variables } = await readConfiguration(path, environment)
  try {
    const written = withEnvironment(source, variables)
    await loadPluginsOf(written)
    const configuration = parseConfiguration(configurationSchema, written, '')
    return { configuration, file, directory: dirname(file) }
  } catch (cause) {
    throw errorInFile(cause, file, source)
  }
}
