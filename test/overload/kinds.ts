/** What the server has to do for each request under load. */
export const overloadKinds = ['memory', 'slow-store', 'password'] as const
export type OverloadKind = (typeof overloadKinds)[number]

export const isOverloadKind = (name: string): name is OverloadKind => overloadKinds.some((kind) => kind === name)

/** Bytes. `rss` is all that the process holds, `heap` what its objects take. */
export interface Memory {
  readonly rss: number
  readonly heap: number
}

/** What the server is asked over the channel to its parent. */
export type ServerOrder = 'collect'

/** What it says there. `listening` comes first, `memory` several times a second, `collected` after a forced garbage collection. */
export type ServerReport =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'memory' | 'collected'; readonly memory: Memory }
