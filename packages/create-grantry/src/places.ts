import type { Answers } from './questions.ts'

/** What runs the server of the project. */
export interface Place {
  /** The template of `server.ts`. */
  readonly server: string
  /** The commands of `package.json`. */
  readonly scripts: Readonly<Record<string, string>> & { readonly start: string }
  readonly packages: readonly string[]
  readonly development: readonly string[]
}

const onNode = {
  scripts: {
    start: 'node --env-file=.env --import tsx server.ts',
    dev: 'node --watch --env-file=.env --import tsx server.ts',
    test: 'node --import tsx --test sign-in.test.ts',
    typecheck: 'tsc',
  },
  // Node.js runs TypeScript itself from version 22.18.
  packages: ['@grantry/adapters', 'tsx'],
  development: ['@types/node', 'typescript'],
}

export const places: Readonly<Record<Answers['where'], Place>> = {
  node: { server: 'app/node.ts', ...onNode },
}
