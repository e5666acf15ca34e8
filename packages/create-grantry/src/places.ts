import type { Answers } from './questions.ts'

/** What runs the server of the project. */
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
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Whether the command `start` listens at the port 0 too, so that the project is started once. */
  readonly startsAnywhere: boolean
  readonly hasSqlite: boolean
}

const test = 'sign-in.test.ts'
const typecheck = 'tsc'

const common = { server: 'server.ts', secrets: '.env', startsAnywhere: true, hasSqlite: true }

const onNode = (name: string, packages: readonly string[], types: readonly string[] = []): Place => ({
  ...common,
  template: `app/${name}.ts`,
  scripts: {
    start: 'node --env-file=.env --import tsx server.ts',
    dev: 'node --watch --env-file=.env --import tsx server.ts',
    test: `node --import tsx --test ${test}`,
    typecheck,
  },
  // Node.js runs TypeScript itself from version 22.18, and has SQLite from 22.13.
  packages: ['@grantry/adapters', 'tsx', ...packages],
  development: ['@types/node', 'typescript', ...types],
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

export const places: Readonly<Record<Answers['where'], Place>> = {
  node: onNode('node', []),
  express: onNode('express', ['express'], ['@types/express']),
  hono: onNode('hono', ['hono', '@hono/node-server']),
  bun: {
    ...common,
    template: 'app/bun.ts',
    scripts: { start: 'bun server.ts', dev: 'bun --watch server.ts', test: `bun test ./${test}`, typecheck },
    packages: ['@grantry/adapters'],
    development,
  },
  deno: {
    ...common,
    template: 'app/deno.ts',
    scripts: {
      start: 'deno run --node-modules-dir=manual --env-file=.env --allow-all server.ts',
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
    files: { 'wrangler.jsonc': wrangler },
    startsAnywhere: false,
  },
}
