import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileErrorReason } from '../error-message.ts'
import { referencedNames } from './environment.ts'
import { environmentFileName } from './environment-file.ts'
import { type Variables, variablesFor } from './load.ts'

/** Bytes. A configuration with 10,000 clients has 3 MB. */
const maxBytes = 16_777_216

/**
 * Checks that reading a file ends, and fits into memory: it may have become a link to a device, a pipe or a huge file.
 *
 * @throws TypeError with a one-line message.
 */
async function assertReadable(path: string): Promise<void> {
  const file = await stat(path).catch((cause: unknown) => {
    throw new TypeError(`${path}: it cannot be read (${fileErrorReason(cause)})`)
  })
  if (!file.isFile()) throw new TypeError(`${path}: it is not a file`)
  if (file.size > maxBytes) throw new TypeError(`${path}: it has more than ${maxBytes / 1_048_576} MB`)
}

/**
 * Returns the paths that are read for a configuration file in JSON: the file, `grantry.env`, and the files that
 * variables in it name.
 */
export async function configurationFiles(file: string, environment: Variables): Promise<readonly string[]> {
  await assertReadable(file)
  const text = await readFile(file, 'utf8')
  const variableFile = join(dirname(file), environmentFileName)
  if ((await stat(variableFile).catch(() => undefined)) !== undefined) await assertReadable(variableFile)
  const variables = variablesFor(dirname(file), environment)
  const secrets = referencedNames(text).flatMap((name) => variables[`${name}_FILE`] ?? [])
  return [file, variableFile, ...secrets]
}

/** @throws TypeError with a one-line message if one of the files must not be read. A missing one is reported later. */
export async function assertReadableFiles(file: string, environment: Variables): Promise<void> {
  const [, , ...secrets] = await configurationFiles(file, environment)
  await Promise.all(secrets.map(assertReadable))
}

/** Returns the content of a file, or why it has none, for comparisons. */
export async function contentOf(path: string): Promise<string> {
  try {
    await assertReadable(path)
    return await readFile(path, 'utf8')
  } catch (cause) {
    return fileErrorReason(cause)
  }
}
