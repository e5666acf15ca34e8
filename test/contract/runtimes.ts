import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import type { Expected } from './contract-case.ts'
import { type Program, startProgram } from './program.ts'
import { startWorker } from './worker.ts'

/** One row of runtimes: where the suite runs. */
export interface ContractRuntime {
  readonly name: string
  /** As installed; the Node.js that runs the tests has its own. */
  readonly version: string
  /** What carries the provider there. */
  readonly adapter: string
  /** The executable; what it lacks is said before the tests. */
  readonly executable: string
  start(): Promise<Program>
  /** Where it answers otherwise, why, and what then. */
  readonly deviations?: Readonly<Record<string, Deviation>>
}

export interface Deviation {
  readonly why: string
  readonly expect: Expected
}

const folder = fileURLToPath(new URL('../../runtimes/', import.meta.url))

const installed = (name: string): string => `${folder}node_modules/${name}`

const pinned: Readonly<Record<string, string>> = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).dependencies

const version = (name: string): string => pinned[name]?.split('@').at(-1) ?? ''

const program = (name: string): URL => new URL(`./programs/${name}.ts`, import.meta.url)

const on = (executable: string, name: string, parameters: readonly string[] = []) => ({
  executable,
  start: async () => startProgram(executable, [...parameters, await bundle(program(name))]),
})

const bun = installed('.bin/bun')

export const runtimes: readonly ContractRuntime[] = [
  {
    name: 'Node.js (running the tests)',
    version: process.version.slice(1),
    adapter: '@grantry/adapters/node',
    ...on(process.execPath, 'node'),
  },
  {
    name: 'Node.js 22',
    version: version('node22'),
    adapter: '@grantry/adapters/node',
    ...on(installed('node22/bin/node'), 'node'),
  },
  {
    name: 'Node.js 24',
    version: version('node24'),
    adapter: '@grantry/adapters/node',
    ...on(installed('node24/bin/node'), 'node'),
  },
  { name: 'Bun', version: version('bun'), adapter: '@grantry/adapters/bun', ...on(bun, 'bun') },
  {
    name: 'Deno',
    version: version('deno'),
    adapter: '@grantry/adapters/deno',
    ...on(installed('.bin/deno'), 'deno', ['run', '--allow-net', '--allow-env', '--no-config']),
  },
  {
    name: 'workerd',
    version: version('workerd'),
    adapter: '@grantry/adapters/fetch',
    executable: installed('.bin/workerd'),
    start: () => startWorker(installed('.bin/workerd'), program('workerd')),
  },
]
