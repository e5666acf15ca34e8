/** The answers that each question accepts, the default first, and how a terminal shows them. */
export const questions = {
  what: {
    text: 'What do you build?',
    answers: {
      app: 'an application with its own users',
      mcp: 'an MCP server, and the provider that signs its users in',
      server: 'the ready server, configured by a file',
      plugin: 'a plugin: a grant and a page, with tests',
      driver: 'a storage driver, with its proofs',
    },
  },
  where: {
    text: 'Where does it run?',
    answers: {
      node: 'Node.js, without a framework',
      express: 'Express',
      hono: 'Hono on Node.js',
      next: 'Next.js, with the App Router',
      bun: 'Bun',
      deno: 'Deno',
      workers: 'Cloudflare Workers, with D1',
    },
  },
  users: {
    text: 'Who are the users?',
    answers: {
      demo: 'one demo user, for a start',
      new: 'new ones, in a table that is created',
      table: 'those in a table that you have: --database and --table',
      provider: 'those of another provider, such as your company',
    },
  },
  pages: {
    text: 'On which pages do they sign in?',
    answers: {
      ready: 'the ready pages, in twelve languages',
      mine: 'a page of your own, which is written for you to change',
    },
  },
  storage: {
    text: 'Where are codes, tokens, sessions and keys stored?',
    answers: {
      files: 'in files of this machine',
      memory: 'in memory, until the process ends',
      sqlite: 'in SQLite',
      postgresql: 'in PostgreSQL',
      redis: 'in Redis',
      d1: 'in D1 of Cloudflare',
    },
  },
} as const

export type Question = keyof typeof questions

/** One answer to each question. */
export type Answers = { readonly [Name in Question]: keyof (typeof questions)[Name]['answers'] }

export const questionNames = Object.keys(questions) as readonly Question[]

/** The accepted answers to a question. */
export const answersTo = (question: Question): readonly string[] => Object.keys(questions[question].answers)

/** @throws TypeError with a list if the answer is not among those that the question accepts. */
export function assertAnswer(question: Question, answer: string): void {
  const accepted = answersTo(question)
  if (!accepted.includes(answer)) {
    throw new TypeError(`--${question} does not accept "${answer}"; it accepts ${accepted.join(', ')}`)
  }
}
