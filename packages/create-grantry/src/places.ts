import { nextFiles, nextTypes } from './next-files.ts'
import type { Answers } from './questions.ts'

/** The runtime or host of the server of the project. */
export interface Place {
  /** The template of the server, and the name of the file. */
  readonly template: string
  readonly server: string
  /** The file of the settings and secrets. */
  readonly secrets: string
  /** The commands of `package.json`. */
  readonly scripts: Readonly<Record<string, string>> & { readonly start: string }
  readonly packages: readonly string[]
  readonly development: readonly string[]
  /** More files, which depend on other answers. */
  readonly filesFor?: ((answers: Answers) => Readonly<Record<string, string>>) | undefined
  /** Further members of `tsconfig.json`. */
  readonly types?: { readonly compilerOptions: object } | undefined
  /** More lines of `.gitignore`. */
  readonly ignored?: readonly string[] | undefined
  /** How another program of the project runs, with the name of the server. Default: as `start`. */
  readonly run?: string | undefined
  /** The command that the user runs next. Default: `npm start`. */
  readonly next?: string | undefined
  /** The command that starts the project once, at the port 0 of the variable PORT; `undefined` where it cannot be started. */
  readonly startOnce: string | undefined
  readonly hasSqlite: boolean
}

const test = 'sign-in.test.ts'
const typecheck = 'tsc'

const common = { server: 'server.ts', secrets: '.env', hasSqlite: true }

/** A program on Node.js. */
const nodeServer = 'node --env-file=.env --import tsx server.ts'

const onNode = (name: string, packages: readonly string[], types: readonly string[] = []): Place => ({
  ...common,
  template: `app/${name}.ts`,
  scripts: {
    start: nodeServer,
    dev: 'node --watch --env-file=.env --import tsx server.ts',
    test: `node --import tsx --test ${test}`,
    typecheck,
  },
  // Node.js runs TypeScript itself from version 22.18, and has SQLite from 22.13.
  packages: ['@grantry/adapters', 'tsx', ...packages],
  development: ['@types/node', 'typescript', ...types],
  startOnce: nodeServer,
  hasSqlite: false,
})

const development = ['@types/node', 'typescript']

const wrangler = `\
// Once: npx wrangler d1 create grantry, and put its id here. Secrets: npx wrangler secret put GRANTRY_KEY_SECRET, and so on.
{
  "name": "grantry",
  "main": "worker.ts",
  "compatibility_date": "2026-10-01",
  "d1_databases": [{ "binding": "DB", "database_name": "grantry", "database_id": "local" }],
  // Rotates keys, sends mails and messages again, and removes expired items.
  "triggers": { "crons": ["*/5 * * * *"] }
}
`

const denoServer = 'deno run --node-modules-dir=manual --env-file=.env --allow-all server.ts'

export const places: Readonly<Record<Answers['where'], Place>> = {
  node: onNode('node', []),
  express: onNode('express', ['express'], ['@types/express']),
  hono: onNode('hono', ['hono', '@hono/node-server']),
  next: {
    ...common,
    template: 'app/next/handlers.ts',
    server: 'handlers.ts',
    scripts: {
      start: 'next start --hostname 127.0.0.1',
      build: 'next build',
      dev: 'next dev --hostname 127.0.0.1',
      test: `node --import tsx --test ${test}`,
      typecheck,
    },
    packages: ['@grantry/adapters', '@grantry/next', 'next', 'react', 'react-dom', 'tsx'],
    development: ['@types/node', '@types/react', 'typescript'],
    filesFor: nextFiles,
    types: nextTypes,
    ignored: ['.next/', 'next-env.d.ts', '*.tsbuildinfo'],
    run: 'node --env-file=.env --import tsx handlers.ts',
    next: 'npm run dev',
    startOnce: 'node node_modules/next/dist/bin/next dev --hostname 127.0.0.1',
    hasSqlite: false,
  },
  bun: {
    ...common,
    startOnce: 'bun server.ts',
    template: 'app/bun.ts',
    scripts: { start: 'bun server.ts', dev: 'bun --watch server.ts', test: `bun test ./${test}`, typecheck },
    packages: ['@grantry/adapters'],
    development,
  },
  deno: {
    ...common,
    startOnce: denoServer,
    template: 'app/deno.ts',
    scripts: {
      start: denoServer,
      dev: 'deno run --watch --node-modules-dir=manual --env-file=.env --allow-all server.ts',
      test: `deno test --no-check --node-modules-dir=manual --allow-all ${test}`,
      typecheck,
    },
    packages: ['@grantry/adapters'],
    development,
  },
  workers: {
    ...common,
    template: 'app/workers.ts',
    server: 'worker.ts',
    secrets: '.dev.vars',
    scripts: {
      start: 'wrangler dev --port 3000',
      test: `node --import tsx --test ${test}`,
      typecheck,
    },
    packages: ['@grantry/adapters', '@grantry/cloudflare'],
    development: [...development, 'tsx', 'wrangler'],
    filesFor: () => ({ 'wrangler.jsonc': wrangler }),
    ignored: ['.wrangler/'],
    startOnce: undefined,
  },
}
