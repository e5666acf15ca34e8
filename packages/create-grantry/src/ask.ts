import { createInterface } from 'node:readline'
import { type Answers, answersTo, type Question, questionNames, questions } from './questions.ts'

/** The text of a question: its answers, numbered, the default first. */
function prompt(question: Question): string {
  const { text, answers } = questions[question]
  const lines = Object.entries(answers).map(([answer, title], index) => `  ${index + 1} ${answer}: ${title}\n`)
  return `${text}\n${lines.join('')}Number or name (1): `
}

/** Returns the answer that a line means: an empty one is the default. */
function answerOf(line: string, accepted: readonly string[]): string | undefined {
  const text = line.trim()
  if (text === '') return accepted[0]
  return accepted.find((answer, index) => answer === text || String(index + 1) === text)
}

/** The source of the answers. */
export type LineReader = ReturnType<typeof lineReader>

/** Reads lines, after a text each, until the user cancels, which is a TypeError. */
export function lineReader(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
  const reader = createInterface({ input })
  const lines = reader[Symbol.asyncIterator]()
  async function next(text: string): Promise<string> {
    output.write(text)
    const { value, done } = await lines.next()
    if (done === true) throw new TypeError('cancelled; no file was written')
    return value
  }
  return { next, close: () => reader.close() }
}

/**
 * Asks the questions that have no answer yet, one after the other, and again if an answer is unknown.
 *
 * @param skips whether the answers so far make a question pointless
 * @throws TypeError when the user cancels.
 */
export async function ask(
  answered: Partial<Answers>,
  skips: (question: Question, answers: Partial<Answers>) => boolean,
  lines: LineReader,
): Promise<Partial<Answers>> {
  const answers: { [Name in Question]?: string | undefined } = { ...answered }
  for (const question of questionNames) {
    while (answers[question] === undefined && !skips(question, answers as Partial<Answers>)) {
      answers[question] = answerOf(await lines.next(prompt(question)), answersTo(question))
    }
  }
  return answers as Partial<Answers>
}

interface TablePlace {
  readonly database?: string | undefined
  readonly table?: string | undefined
}

/** Asks where the table of the users is, as far as it is unknown. */
export const askForTable = async ({ database, table }: TablePlace, lines: LineReader): Promise<TablePlace> => ({
  database: database ?? (await lines.next('Which database? A URL of PostgreSQL, or a SQLite file: ')).trim(),
  table: table ?? (await lines.next('Which table? ')).trim(),
})
