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

/**
 * Asks the questions that have no answer yet, one after the other, and again if an answer is unknown.
 *
 * @param skips whether the answers so far make a question pointless
 * @throws TypeError when the user cancels.
 */
export async function ask(
  answered: Partial<Answers>,
  skips: (question: Question, answers: Partial<Answers>) => boolean,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<Partial<Answers>> {
  const reader = createInterface({ input })
  const lines = reader[Symbol.asyncIterator]()
  const answers: { [Name in Question]?: string | undefined } = { ...answered }
  try {
    for (const question of questionNames) {
      while (answers[question] === undefined && !skips(question, answers as Partial<Answers>)) {
        output.write(prompt(question))
        const { value, done } = await lines.next()
        if (done === true) throw new TypeError('cancelled; no file was written')
        answers[question] = answerOf(value, answersTo(question))
      }
    }
  } finally {
    reader.close()
  }
  return answers as Partial<Answers>
}
