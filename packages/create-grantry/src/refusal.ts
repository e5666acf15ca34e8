import type { Answers, Question } from './questions.ts'

/** The questions that do not concern what is built. */
const skipped: Readonly<Record<Answers['what'], readonly Question[]>> = {
  app: [],
  mcp: [],
  server: ['where', 'users', 'pages', 'storage'],
  plugin: ['where', 'users', 'pages', 'storage'],
  driver: ['where', 'users', 'pages', 'storage'],
}

/** Whether the answers so far make a question pointless. */
export const skips = (question: Question, { what = 'app', where }: Partial<Answers>): boolean =>
  skipped[what].includes(question) || (question === 'storage' && where === 'workers')

/** The default of a question, which the answers before it can change. */
export const impliedAnswers = ({ where }: Partial<Answers>): Partial<Answers> =>
  where === 'workers' ? { storage: 'd1' } : {}

/**
 * Returns why answers cannot be combined; `undefined` if they can.
 *
 * @param answered the questions that the user has answered, instead of a default
 */
export function refusalOf(
  { what, where, users, pages, storage }: Answers,
  answered: readonly string[] = [],
): string | undefined {
  const pointless = answered.find((question) => skipped[what].includes(question as Question))
  if (pointless !== undefined) return `--what ${what} has no use for --${pointless}; leave it out`
  if (skipped[what].length > 0) return undefined
  if (where === 'workers' && storage !== 'd1') {
    return `--where workers needs --storage d1: all instances of a Worker must share the storage, and ${storage} is not reached there`
  }
  if (where !== 'workers' && storage === 'd1')
    return '--storage d1 needs --where workers: only a Worker has its binding'
  if (what === 'mcp' && where === 'workers') {
    return '--what mcp does not run with --where workers yet; choose node, express, hono, next, bun or deno'
  }
  if ((users === 'new' || users === 'table') && where === 'workers') {
    return `--users ${users} does not run with --where workers: a Worker reaches neither SQLite nor PostgreSQL; choose demo or provider`
  }
  if (users === 'provider' && pages === 'mine') {
    return '--users provider needs --pages ready: a page of your own asks for a password, which only the other provider knows'
  }
  return undefined
}
