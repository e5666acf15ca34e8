import { type Declaration, type DeclaredFile, declarationOf } from '@grantry/administration'
import { configurationError } from '@grantry/core'
import { withEnvironment } from '../configuration/environment.ts'
import { type LoadedConfiguration, variablesFor } from '../configuration/load.ts'
import { parseJson } from '../configuration/parse-json.ts'
import { errorInFile } from '../error-message.ts'
import { readSources, type SourceText } from './read-sources.ts'
import { plainSecrets, withHashes } from './secret-references.ts'

type Variables = ReturnType<typeof variablesFor>

async function readFile({ file, directory, text }: SourceText, variables: Variables): Promise<DeclaredFile> {
  try {
    const written = await parseJson(text)
    const [problem, ...others] = plainSecrets(written)
    if (problem !== undefined) throw configurationError([problem, ...others])
    return { file, content: await withHashes(withEnvironment(written, variables), directory) }
  } catch (cause) {
    throw errorInFile(cause, file)
  }
}

/**
 * Reads what a file, the files of a directory, or standard input declare. Variables are those of the configuration.
 *
 * @throws TypeError with a one-line message that names the file and the path in it.
 */
export async function readDeclaration(path: string, { directory }: LoadedConfiguration): Promise<Declaration> {
  const variables = variablesFor(directory, process.env)
  const files: DeclaredFile[] = []
  for (const source of await readSources(path)) files.push(await readFile(source, variables))
  return declarationOf(files)
}
