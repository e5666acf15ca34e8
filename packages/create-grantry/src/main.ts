import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ask } from './ask.ts'
import { versionsFrom } from './manifest.ts'
import { projectOf, refusalOf } from './project.ts'
import { npm, startOnce } from './prove.ts'
import { type Answers, answersTo, assertAnswer, type Question, questionNames, questions } from './questions.ts'
import { writeFiles } from './write-files.ts'

const help = `\
Usage: npm create grantry@latest [directory] -- [options]

${questionNames
  .map(
    (name) =>
      `  --${name} ${answersTo(name).join('|')}\n      ${questions[name].text} Default: ${answersTo(name)[0]}\n`,
  )
  .join('')}\
  --yes              ask nothing: the defaults for all that no option names
  --no-start         neither install the packages nor start the project
  --packed <folder>  take the packages of Grantry from this folder, as npm pack has written them
  --help             print this text

Without a terminal, nothing is asked. No existing file is changed.
`

/** Where the command reads and prints. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
  readonly errors: NodeJS.WritableStream
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  ...{ what: text, where: text, users: text, pages: text, storage: text, packed: text },
  ...{ yes: flag, 'no-start': flag, help: flag },
} as const

const defaultsOf = (answers: Partial<Answers>): Answers =>
  ({ ...Object.fromEntries(questionNames.map((name) => [name, answersTo(name)[0]])), ...answers }) as Answers

/** @throws TypeError if an option or its value is unknown. */
function parse(commandLine: readonly string[]) {
  const { values, positionals } = parseArgs({ args: [...commandLine], options, allowPositionals: true })
  if (positionals.length > 1) throw new TypeError(`one directory is enough, not ${positionals.join(' and ')}`)
  const answered: Partial<Record<Question, string>> = {}
  for (const name of questionNames) {
    const answer = values[name]
    if (answer === undefined) continue
    assertAnswer(name, answer)
    answered[name] = answer
  }
  return { values, directory: resolve(positionals[0] ?? 'grantry-app'), answered: answered as Partial<Answers> }
}

/** Adds `.gitignore`, or returns the lines that an existing one lacks. */
function ignoring(directory: string, lines: readonly string[]) {
  const file = join(directory, '.gitignore')
  if (!existsSync(file)) return { files: { '.gitignore': `${lines.join('\n')}\n` }, missing: [] }
  const present = readFileSync(file, 'utf8').split(/\r?\n/u)
  return { files: {}, missing: lines.filter((line) => !present.includes(line)) }
}

async function create(commandLine: readonly string[], { input, output }: Terminal): Promise<void> {
  const { values, directory, answered } = parse(commandLine)
  if (values.help === true) return void output.write(help)
  const isAsking = values.yes !== true && input.isTTY === true
  const answers = defaultsOf(isAsking ? await ask(answered, () => false, input, output) : answered)
  const refusal = refusalOf(answers)
  if (refusal !== undefined) throw new TypeError(refusal)
  const packed = values.packed === undefined ? undefined : relative(directory, resolve(values.packed))
  const name =
    basename(directory)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/gu, '-')
      .replace(/^[._-]+/u, '') || 'grantry-app'
  const project = projectOf(answers, name, versionsFrom(packed))
  const { files, missing } = ignoring(directory, project.ignored)
  writeFiles(directory, { ...project.files, ...files })
  output.write(`Created in ${directory}:\n  ${Object.keys({ ...project.files, ...files }).join('\n  ')}\n`)
  if (missing.length > 0) output.write(`Add these lines to the existing .gitignore:\n  ${missing.join('\n  ')}\n`)
  const here = relative(process.cwd(), directory)
  const enter = here === '' ? '' : `cd ${here} && `
  if (values['no-start'] === true) {
    output.write(`${project.note}\nNext: ${enter}npm install && npm start\n`)
    return
  }
  output.write('Installing the packages, signing a user in, and starting it once...\n')
  npm(directory, 'install', '--no-audit', '--no-fund')
  npm(directory, 'test')
  await startOnce(directory, project.start)
  output.write(`It works. ${project.note}\nNext: ${enter}npm start\n`)
}

/**
 * Runs `create-grantry`.
 *
 * @returns the exit code: 0 for success, 1 for a mistake, or a project that does not start
 */
export async function main(
  commandLine: readonly string[],
  terminal: Terminal = { input: process.stdin, output: process.stdout, errors: process.stderr },
): Promise<number> {
  try {
    await create(commandLine, terminal)
    return 0
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    terminal.errors.write(`create-grantry: ${error.message}\n`)
    return 1
  }
}
