import type { OperationName } from '../operations.ts'

export const serverNames = ['limit-node', 'grantry-node'] as const
export type ServerName = (typeof serverNames)[number]

export interface ServerDescription {
  /** Below `bench/`. */
  readonly program: string
  readonly runtime: 'node' | 'bun' | 'deno'
  readonly lacks?: readonly OperationName[]
}

export const servers: Readonly<Record<ServerName, ServerDescription>> = {
  'limit-node': { program: 'programs/limit-node.ts', runtime: 'node' },
  'grantry-node': { program: 'programs/grantry-node.ts', runtime: 'node' },
}
