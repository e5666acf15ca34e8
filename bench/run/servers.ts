import { fileURLToPath } from 'node:url'
import type { OperationName } from '../operations.ts'
import type { Bundles } from './bundle.ts'

export type RuntimeName = 'node' | 'bun' | 'deno'

/** One server under test. */
export interface Server {
  readonly name: string
  readonly runtime: RuntimeName
  /** Below `bench/`. */
  readonly program: string
  /** Operations that it does not have. */
  readonly lacks?: readonly OperationName[]
}

export const servers: readonly Server[] = [
  { name: 'limit-node', runtime: 'node', program: 'programs/limit-node.ts' },
  { name: 'grantry-node', runtime: 'node', program: 'programs/grantry-node.ts' },
  { name: 'jmondi-node', runtime: 'node', program: 'peers/jmondi-fastify.ts', lacks: ['userinfo'] },
  { name: 'oidc-provider-node', runtime: 'node', program: 'peers/oidc-provider.ts' },
  { name: 'limit-bun', runtime: 'bun', program: 'programs/limit-bun.ts' },
  { name: 'grantry-bun', runtime: 'bun', program: 'programs/grantry-bun.ts' },
  { name: 'limit-deno', runtime: 'deno', program: 'programs/limit-deno.ts' },
  { name: 'grantry-deno', runtime: 'deno', program: 'programs/grantry-deno.ts' },
]

/** What runs a bundle: this Node, or the runtime of `runtimes/`. */
export function interpreter(runtime: RuntimeName, bench: URL): readonly string[] {
  if (runtime === 'node') return [process.execPath]
  const program = fileURLToPath(new URL(`../runtimes/node_modules/.bin/${runtime}`, bench))
  // Without a look at packages: everything is in the bundle.
  return runtime === 'deno' ? [program, 'run', '--no-config', '--no-lock', '-A'] : [program]
}

export async function commandOf(server: Server, bundles: Bundles, bench: URL): Promise<readonly string[]> {
  return [...interpreter(server.runtime, bench), await bundles.bundle(server.program)]
}
