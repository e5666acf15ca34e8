import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import { runtimeExecutable } from '../support/runtime-describe.ts'
import { success } from './cases/common.ts'
import type { Expected } from './contract-case.ts'
import { type Program, startProgram } from './program.ts'
import { startWorker } from './worker.ts'

/** One row of runtimes: where the suite runs. */
export interface ContractRuntime {
  readonly name: string
  /** As `runtimes/` installs it, or `yours`: that of the Node.js that runs the tests. */
  readonly version: string
  /** What carries the provider there. */
  readonly adapter: string
  /** The executable; what it lacks is said before the tests. */
  readonly executable: string
  start(): Promise<Program>
  /** Whether it can say where a request comes from. */
  readonly knowsAddress: boolean
  /** Where it answers otherwise: by the name of the case, why, and what then. */
  readonly deviations?: Readonly<Record<string, Deviation>>
  /** What it writes to its console; default: nothing. */
  readonly writes?: RegExp
}

/** A fault of the runtime, or of what carries the provider there. A test fails when it is gone. */
export interface Deviation {
  readonly why: string
  /** What every answer of the case is instead. */
  readonly expect: Expected
}

const folder = fileURLToPath(new URL('../../runtimes/', import.meta.url))

const pinned: Readonly<Record<string, string>> = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).dependencies

const version = (name: string): string => pinned[name]?.split('@').at(-1) ?? ''

const yours = 'yours'

const program = (name: string): URL => new URL(`./programs/${name}.ts`, import.meta.url)

const on = (executable: string, name: string, parameters: readonly string[] = []) => ({
  executable,
  async start() {
    const script = await bundle(program(name))
    return startProgram(executable, [...parameters, script], script)
  },
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
