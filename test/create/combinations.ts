import { type Answers, answersTo, questionNames } from '../../packages/create-grantry/src/questions.ts'
import { refusalOf, skips } from '../../packages/create-grantry/src/refusal.ts'

/** All combinations of answers, also those that are refused. */
const all = questionNames.reduce<readonly Readonly<Record<string, string>>[]>(
  (answers, question) =>
    answers.flatMap((before) => answersTo(question).map((answer) => ({ ...before, [question]: answer }))),
  [{}],
) as unknown as readonly Answers[]

/** The combinations that are accepted. What is no program, such as a plugin, once. */
export const possible = all.filter(
  (answers, index) =>
    refusalOf(answers) === undefined &&
    (!skips('where', answers) || all.findIndex(({ what }) => what === answers.what) === index),
)

export const programs = possible.filter((answers) => !skips('where', answers))

/** A name of the combination, such as `app-node-demo-ready-files`. */
export const nameOf = (answers: Answers): string => questionNames.map((name) => answers[name]).join('-')
