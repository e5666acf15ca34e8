import { type Declaration, type DeclaredFile, declarationOf, makePlan, type Plan } from '@grantry/administration'
import { configurationError } from '@grantry/core'
import { checkDeclared } from '../administration/check-declared.ts'
import { withEnvironment } from '../configuration/environment.ts'
import { type LoadedConfiguration, variablesFor } from '../configuration/load.ts'
import { parseJson } from '../configuration/parse-json.ts'
import { errorInFile } from '../error-message.ts'
import { type CommandAdministration, warnOf, withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
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
async function readDeclaration(path: string, { directory }: LoadedConfiguration): Promise<Declaration> {
  const variables = variablesFor(directory, process.env)
  const files: DeclaredFile[] = []
  for (const source of await readSources(path)) files.push(await readFile(source, variables))
  return declarationOf(files)
}

export interface PlannedArguments {
  readonly config?: string
  readonly prune?: true
  readonly json?: true
}

/** Compares a file with the storage, checks the result, and calls `use` with the plan. */
export async function withPlan<T>(
  file: string,
  { config, prune = false }: Pick<PlannedArguments, 'config'> & { readonly prune?: boolean },
  use: (plan: Plan, administration: CommandAdministration) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'change the configuration instead')
  const declaration = await readDeclaration(file, loaded)
  return withAdministration(loaded, async (administration) => {
    const plan = await makePlan(declaration, administration, { prune })
    await checkDeclared(loaded, plan, administration)
    warnOf(
      plan.declared.flatMap(({ kind, value, where }) =>
        (kind.type.gaps?.(value as never) ?? []).map((gap) => `${where}: ${gap}`),
      ),
    )
    return use(plan, administration)
  })
}
