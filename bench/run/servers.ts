import { fileURLToPath } from 'node:url'
import { type OperationName, provingOperations, signInOperation } from '../operations.ts'
import type { Setting } from '../setting.ts'
import type { Bundles } from './bundles.ts'
import { startGrantryServe } from './grantry-serve.ts'
import { pinToCore } from './pin-to-core.ts'
import { type Launch, startServer } from './server-process.ts'

export type RuntimeName = 'node' | 'bun' | 'deno'

/** One server under test. */
export interface Server {
  readonly name: string
  readonly runtime: RuntimeName
  /** Path below `bench/`. */
  readonly program: string
  /** Operations that it does not support. */
  readonly lacks?: readonly OperationName[]
  /** The only operations to measure, for a variant of another server. */
  readonly only?: readonly OperationName[]
  /** Settings that differ from those of the other servers. */
  readonly setting?: Pick<Setting, 'retryWindow'>
  /** Measures the built `grantry serve`; the program issues its tokens. */
  readonly isServe?: true
}

/** Compared with `grantry-node`, shows the cost of the retry window. The peers and the limit do not support retries. */
const withoutRetry = { name: 'grantry-without-retry-node', only: ['refresh'], setting: { retryWindow: 0 } } as const

/** What a server without OpenID Connect and without proofs lacks. */
const beyondTokens: readonly OperationName[] = [...provingOperations, signInOperation]

export const servers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/limit-node.ts', lacks: beyondTokens },
  { name: 'grantry-node', runtime: 'node', program: 'programs/grantry-node.ts' },
  { ...withoutRetry, runtime: 'node', program: 'programs/grantry-node.ts' },
  {
    name: 'jmondi-node',
    runtime: 'node',
    program: 'peers/jmondi-fastify.ts',
    lacks: ['userinfo', ...beyondTokens],
  },
  { name: 'oidc-provider-node', runtime: 'node', program: 'peers/oidc-provider.ts', lacks: provingOperations },
  { name: 'limit-bun', runtime: 'bun', program: 'programs/limit-bun.ts', lacks: beyondTokens },
  { name: 'grantry-bun', runtime: 'bun', program: 'programs/grantry-bun.ts' },
  { name: 'limit-deno', runtime: 'deno', program: 'programs/limit-deno.ts', lacks: beyondTokens },
  { name: 'grantry-deno', runtime: 'deno', program: 'programs/grantry-deno.ts' },
]

/** The servers on Redis; only on Node, which all peers support. */
export const redisServers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/limit-redis-node.ts', lacks: [signInOperation] },
  { name: 'grantry-node', runtime: 'node', program: 'programs/grantry-redis-node.ts' },
  { ...withoutRetry, runtime: 'node', program: 'programs/grantry-redis-node.ts' },
  {
    name: 'grantry-serve-node',
    runtime: 'node',
    program: 'programs/grantry-redis-node.ts',
    isServe: true,
    lacks: [signInOperation],
  },
  {
    name: 'jmondi-node',
    runtime: 'node',
    program: 'peers/jmondi-fastify-redis.ts',
    lacks: ['userinfo', signInOperation],
  },
  { name: 'oidc-provider-node', runtime: 'node', program: 'peers/oidc-provider-redis.ts' },
]

/** The servers on PostgreSQL. */
export const postgresqlServers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/limit-postgresql-node.ts' },
  { name: 'grantry-node', runtime: 'node', program: 'programs/grantry-postgresql-node.ts' },
  { ...withoutRetry, runtime: 'node', program: 'programs/grantry-postgresql-node.ts' },
  { name: 'oidc-provider-node', runtime: 'node', program: 'peers/oidc-provider-postgresql.ts' },
  { name: 'better-auth-node', runtime: 'node', program: 'peers/better-auth.ts' },
]

/** The baseline: the cost of the adapters alone. */
export const floorServers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/floor/floor-node.ts' },
  { name: 'grantry-node', runtime: 'node', program: 'programs/floor/floor-grantry-node.ts' },
  { name: 'srvx-fast-response-node', runtime: 'node', program: 'peers/floor-srvx-fast.ts' },
  { name: 'srvx-node', runtime: 'node', program: 'peers/floor-srvx.ts' },
  { name: 'hono-node', runtime: 'node', program: 'peers/floor-hono.ts' },
  { name: 'hattip-node', runtime: 'node', program: 'programs/floor/floor-hattip.ts' },
  { name: 'limit-bun', runtime: 'bun', program: 'programs/floor/floor-bun.ts' },
  { name: 'grantry-bun', runtime: 'bun', program: 'programs/floor/floor-grantry-bun.ts' },
  { name: 'limit-deno', runtime: 'deno', program: 'programs/floor/floor-deno.ts' },
  { name: 'grantry-deno', runtime: 'deno', program: 'programs/floor/floor-grantry-deno.ts' },
]

/** Returns the command that runs a bundle: this Node, or a runtime from `runtimes/`. */
export function interpreter(runtime: RuntimeName, bench: URL): readonly string[] {
  if (runtime === 'node') return [process.execPath]
  const program = fileURLToPath(new URL(`../runtimes/node_modules/.bin/${runtime}`, bench))
  // No configuration or lock file: the bundle contains everything.
  return runtime === 'deno' ? [program, 'run', '--no-config', '--no-lock', '-A'] : [program]
}

export const supports = ({ lacks, only }: Server, operation: OperationName): boolean =>
  !lacks?.includes(operation) && only?.includes(operation) !== false

/** Bundles a server and returns how to start it. */
export async function launchOf(server: Server, bundles: Bundles, bench: URL): Promise<Launch> {
  const { runtime, program, setting: ownSetting, isServe } = server
  const command = [...interpreter(runtime, bench), await bundles.bundle(program)]
  const start = (core: number) => (setting: Setting) =>
    startServer(pinToCore(core, command), { ...setting, ...ownSetting })
  // The process that issues its tokens is idle during the measurement.
  return isServe ? (setting) => startGrantryServe(bench, setting, start(1)) : start(0)
}

/** Returns how to start the servers that support the operation, by name. */
export async function launchesOf(
  wanted: readonly Server[],
  operation: OperationName,
  bundles: Bundles,
  bench: URL,
): Promise<ReadonlyMap<string, Launch>> {
  const launches = new Map<string, Launch>()
  for (const server of wanted) {
    if (supports(server, operation)) launches.set(server.name, await launchOf(server, bundles, bench))
  }
  return launches
}
