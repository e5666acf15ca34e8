import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ask, askForTable, lineReader } from './ask.ts'
import { versionsFrom } from './manifest.ts'
import type { Project } from './part.ts'
import { projectOf } from './project.ts'
import { npm, setUp, startOnce } from './prove.ts'
import { type Answers, answersTo, assertAnswer, type Question, questionNames, questions } from './questions.ts'
import { impliedAnswers, refusalOf, skips } from './refusal.ts'
import { readUsersTable } from './users-table.ts'
import { writeFiles } from './write-files.ts'

const help = `\
Usage: npm create grantry@latest [directory] -- [options]

${questionNames
  .map(
    (name) =>
      `  --${name} ${answersTo(name).join('|')}\n      ${questions[name].text} Default: ${answersTo(name)[0]}\n`,
  )
  .join('')}\
  --database <url|file>, --table <name>
      The table that you have, with --users table: PostgreSQL or SQLite. Its columns are read with psql or sqlite3.
  --yes              ask nothing: the defaults for all that no option names
  --no-start         neither install the packages nor start the project
  --packed <folder>  take the packages of Grantry from this folder, as npm pack has written them
  --help             print this text

Without a terminal, nothing is asked. No existing file is changed.
`

/** The input and output of the command. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream
  readonly errors: NodeJS.WritableStream
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  ...{ what: text, where: text, users: text, pages: text, storage: text, packed: text },
  ...{ database: text, table: text },
  ...{ yes: flag, 'no-start': flag, help: flag },
} as const

const defaultsOf = (answers: Partial<Answers>): Answers =>
  ({
    ...Object.fromEntries(questionNames.map((name) => [name, answersTo(name)[0]])),
    ...impliedAnswers(answers),
    ...answers,
  }) as Answers

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

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/u)
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    throw new TypeError(`${file} is there and cannot be read (${code}); choose another directory`, { cause })
  }
}

/** Adds `.gitignore`, or returns the lines that an existing one lacks. @throws TypeError if it cannot be read. */
function ignoring(directory: string, lines: readonly string[]) {
  const file = join(directory, '.gitignore')
  if (!existsSync(file)) return { files: { '.gitignore': `${lines.join('\n')}\n` }, missing: [] }
  const present = readLines(file)
  return { files: {}, missing: lines.filter((line) => !present.includes(line)) }
}

/** A path as one word of a command. */
function shellWord(path: string): string {
  if (/^[\w@%+=:,./\\-]+$/u.test(path)) return path
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`
}

/** Installs the packages of a project, runs its test and starts it. @throws TypeError if something of it fails. */
async function prove(directory: string, project: Project, output: NodeJS.WritableStream): Promise<void> {
  output.write('Installing the packages...\n')
  npm(directory, 'install', '--no-audit', '--no-fund')
  if (project.setUp !== undefined) setUp(directory, project.setUp, output)
  if (project.hasTest) {
    output.write('Running the test...\n')
    npm(directory, 'test')
  }
  if (project.start === undefined) return
  output.write('Starting it once...\n')
  await startOnce(directory, project.start)
}

const nameOf = (directory: string): string =>
  basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/gu, '-')
    .replace(/^[._-]+/u, '') || 'grantry-app'

/**
 * Asks what the command line leaves open, or takes the defaults.
 *
 * @throws TypeError if the user cancels, if the answers cannot be combined, or if the table of the users is unsuitable.
 */
async function decide({ values, answered }: ReturnType<typeof parse>, { input, output }: Terminal) {
  const lines = values.yes !== true && input.isTTY === true ? lineReader(input, output) : undefined
  try {
    const answers = defaultsOf(lines === undefined ? answered : await ask(answered, skips, lines))
    const refusal = refusalOf(answers, Object.keys(answered))
    if (refusal !== undefined) throw new TypeError(refusal)
    if (answers.users !== 'table') {
      if (values.database !== undefined || values.table !== undefined) {
        throw new TypeError('--database and --table name a table that you have: add --users table, or leave them out')
      }
      return { answers, table: undefined }
    }
    const place = lines === undefined ? values : await askForTable(values, lines)
    return { answers, table: readUsersTable(place.database, place.table) }
  } finally {
    lines?.close()
  }
}

async function create(commandLine: readonly string[], terminal: Terminal): Promise<void> {
  const { output } = terminal
  const parsed = parse(commandLine)
  const { values, directory } = parsed
  if (values.help === true) return void output.write(help)
  const { answers, table } = await decide(parsed, terminal)
  const packed = values.packed === undefined ? undefined : relative(directory, resolve(values.packed))
  const project = projectOf(answers, nameOf(directory), versionsFrom(packed), table)
  const { files: more, missing } = ignoring(directory, project.ignored)
  const files = { ...project.files, ...more }
  // Files that git must ignore are readable for this user only.
  writeFiles(directory, files, project.ignored)
  output.write(`Created in ${directory}:\n  ${Object.keys(files).join('\n  ')}\n`)
  if (missing.length > 0) output.write(`Add these lines to the existing .gitignore:\n  ${missing.join('\n  ')}\n`)
  const here = relative(process.cwd(), directory)
  const commands = here === '' ? [] : [`cd ${shellWord(here)}`]
  if (values['no-start'] === true) {
    commands.push('npm install', ...(project.setUp === undefined ? [] : [project.setUp]))
  } else {
    await prove(directory, project, output)
    output.write(`${project.hasTest || project.start !== undefined ? 'It works. ' : ''}`)
  }
  output.write(`${project.note}\nNext: ${[...commands, project.next].join(' && ')}\n`)
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
