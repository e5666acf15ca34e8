import { fileURLToPath } from 'node:url'
import type { OperationName } from '../operations.ts'
import type { Bundles } from './bundles.ts'

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
}

export const servers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/limit-node.ts' },
  { name: 'grantry-node', runtime: 'node', program: 'programs/grantry-node.ts' },
  {
    name: 'grantry-without-retry-node',
    runtime: 'node',
    program: 'programs/grantry-without-retry-node.ts',
    only: ['refresh'],
  },
  { name: 'jmondi-node', runtime: 'node', program: 'peers/jmondi-fastify.ts', lacks: ['userinfo'] },
  { name: 'oidc-provider-node', runtime: 'node', program: 'peers/oidc-provider.ts' },
  { name: 'limit-bun', runtime: 'bun', program: 'programs/limit-bun.ts' },
  { name: 'grantry-bun', runtime: 'bun', program: 'programs/grantry-bun.ts' },
  { name: 'limit-deno', runtime: 'deno', program: 'programs/limit-deno.ts' },
  { name: 'grantry-deno', runtime: 'deno', program: 'programs/grantry-deno.ts' },
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

/** Returns the start commands of the servers that support the operation, by name. */
export async function commandsOf(
  wanted: readonly Server[],
  operation: OperationName,
  bundles: Bundles,
  bench: URL,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const commands = new Map<string, readonly string[]>()
  for (const { name, runtime, program, lacks, only } of wanted) {
    if (lacks?.includes(operation) || only?.includes(operation) === false) continue
    commands.set(name, [...interpreter(runtime, bench), await bundles.bundle(program)])
  }
  return commands
}
