import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import { runtimeExecutable } from '../support/runtime-describe.ts'
import { success } from './cases/common.ts'
import type { Expected } from './contract-case.ts'
import { type Program, startProgram } from './program.ts'
import { startWorker } from './worker.ts'

/** A runtime, with its adapter, that the suite runs on. */
export interface ContractRuntime {
  readonly name: string
  /** The version that `runtimes/` installs, or `yours`: the Node.js that runs the tests. */
  readonly version: string
  /** The adapter that serves the provider. */
  readonly adapter: string
  /** The path of the executable. If it is missing, the tests are skipped with a message. */
  readonly executable: string
  start(): Promise<Program>
  /** Whether the adapter receives the address of the caller. */
  readonly knowsAddress: boolean
  /** Known deviations, by the name of the case. */
  readonly deviations?: Readonly<Record<string, Deviation>>
  /** The expected console output. Default: none. */
  readonly writes?: RegExp
}

/** A known defect of the runtime or adapter. A test fails once it is fixed. */
export interface Deviation {
  readonly why: string
  /** Replaces the expectation of every step of the case. */
  readonly expect: Expected
}

const folder = fileURLToPath(new URL('../../runtimes/', import.meta.url))

const pinned: Readonly<Record<string, string>> = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).dependencies

const version = (name: string): string => pinned[name]?.split('@').at(-1) ?? ''

const yours = 'yours'

const program = (name: string): URL => new URL(`./programs/${name}.ts`, import.meta.url)

const bundles = new Map<string, Promise<string>>()

/** Bundles a program once for all its runtimes. */
function bundled(name: string): Promise<string> {
  const script = bundles.get(name) ?? bundle(program(name))
  bundles.set(name, script)
  return script
}

const on = (executable: string, name: string, parameters: readonly string[] = []) => ({
  executable,
  start: async () => startProgram(executable, [...parameters, await bundled(name)]),
})

const bun = runtimeExecutable('.bin/bun')

const lengthOf204: Deviation = {
  why: 'hattip sends Content-Length: 0 with a 204',
  expect: { status: 204, headers: { 'content-length': '0' }, body: '' },
}

const passesOn = {
  'returns 404 for a path without an endpoint': {
    why: 'a request for another path is passed to the next handler, and there is none',
    expect: { status: 404, headers: { 'cache-control': undefined } },
  },
} as const satisfies Readonly<Record<string, Deviation>>

export const runtimes: readonly ContractRuntime[] = [
  {
    name: 'Node.js (running the tests)',
    version: yours,
    adapter: '@grantry/adapters/node',
    knowsAddress: true,
    ...on(process.execPath, 'node'),
  },
  {
    name: 'Node.js 22',
    version: version('node22'),
    adapter: '@grantry/adapters/node',
    knowsAddress: true,
    ...on(runtimeExecutable('node22/bin/node'), 'node'),
  },
  {
    name: 'Node.js 24',
    version: version('node24'),
    adapter: '@grantry/adapters/node',
    knowsAddress: true,
    ...on(runtimeExecutable('node24/bin/node'), 'node'),
  },
  {
    name: 'Bun',
    version: version('bun'),
    adapter: '@grantry/adapters/bun',
    knowsAddress: true,
    ...on(bun, 'bun'),
  },
  {
    name: 'Deno',
    version: version('deno'),
    adapter: '@grantry/adapters/deno',
    knowsAddress: true,
    ...on(runtimeExecutable('.bin/deno'), 'deno', ['run', '--allow-net', '--allow-env', '--no-config']),
  },
  {
    name: 'workerd',
    version: version('workerd'),
    adapter: '@grantry/adapters/fetch',
    knowsAddress: false,
    executable: runtimeExecutable('.bin/workerd'),
    start: () => startWorker(runtimeExecutable('.bin/workerd'), program('workerd')),
  },
  {
    name: 'Node.js with hattip',
    version: yours,
    adapter: '@grantry/adapters/hattip, @hattip/adapter-node 0.0.49',
    knowsAddress: false,
    deviations: {
      'preflight of an allowed origin: returns 204 without a body or a length': lengthOf204,
      'preflight of a foreign origin: returns 204 and allows nothing': lengthOf204,
      ...passesOn,
      'rejects two Authorization headers': {
        why: 'Node.js keeps the first header and drops the others before hattip reads them',
        expect: success,
      },
      'rejects TRACE and echoes nothing': {
        why: 'hattip creates a Request, whose constructor rejects TRACE',
        expect: { status: 500, body: '' },
      },
    },
    writes: /^TypeError: 'TRACE' HTTP method is unsupported\.$/mu,
    ...on(process.execPath, 'hattip-node'),
  },
  {
    name: 'Bun with hattip',
    version: version('bun'),
    adapter: '@grantry/adapters/hattip, @hattip/adapter-bun 0.0.49',
    knowsAddress: false,
    deviations: passesOn,
    ...on(bun, 'hattip-bun'),
  },
]
