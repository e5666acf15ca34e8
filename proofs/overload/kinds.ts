/** What limits the server under load. */
export const overloadKinds = ['memory', 'slow-store', 'password'] as const
export type OverloadKind = (typeof overloadKinds)[number]

export const isOverloadKind = (name: string): name is OverloadKind => overloadKinds.some((kind) => kind === name)

/** Memory in bytes: `rss` of the process, `heap` of its objects. */
export interface Memory {
  readonly rss: number
  readonly heap: number
}

/** Messages from the parent to the server. */
export type ServerOrder = 'collect'

/**
 * Messages from the server: `listening` first, `memory` several times a second, `collected` after a forced garbage
 * collection.
 */
export type ServerReport =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'memory' | 'collected'; readonly memory: Memory }
