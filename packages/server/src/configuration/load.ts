import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { withEnvironment } from './environment.ts'
import { readEnvironmentFile } from './environment-file.ts'
import { importModule } from './import-module.ts'
import { inFile } from './in-file.ts'
import { isPresent } from './is-present.ts'
import { parseJson } from './parse-json.ts'
import { type CheckedConfiguration, configurationSchema } from './schema.ts'

/** A configuration and the directory from which its relative paths count. */
export interface LoadedConfiguration {
  readonly configuration: CheckedConfiguration
  readonly file: string
  readonly directory: string
}

const usualNames = ['grantry.config.json', 'grantry.config.ts', 'grantry.config.mjs'] as const

/** The configuration in this directory, where it has one. */
export const findConfiguration = (directory: string): string | undefined =>
  usualNames.map((name) => resolve(directory, name)).find(isPresent)

type Variables = Readonly<Record<string, string | undefined>>

/** What the environment sets wins, also by the name of a file: a secret that was replaced there must not lose to an old one. */
function variablesOf(inFile: Variables, environment: Variables): Variables {
  const left = Object.entries(inFile).filter(([name]) => environment[`${name}_FILE`] === undefined)
  return { ...Object.fromEntries(left), ...environment }
}

/**
 * Reads, completes and checks a configuration file.
 *
 * @throws TypeError with one sentence that begins with the file and names the path in it.
 */
export async function loadConfiguration(path: string, environment: Variables): Promise<LoadedConfiguration> {
  const file = resolve(path)
  if (!isPresent(file)) throw new TypeError(`${file}: there is no such file`)
  try {
    const isModule = ['.ts', '.mjs', '.js'].includes(extname(file))
    const written = isModule ? await importModule(file) : await parseJson(await readFile(file, 'utf8'))
    const variables = variablesOf(readEnvironmentFile(dirname(file)), environment)
    const configuration = parseConfiguration(configurationSchema, withEnvironment(written, variables), '')
    return { configuration, file, directory: dirname(file) }
  } catch (cause) {
    throw inFile(cause, file)
  }
}
