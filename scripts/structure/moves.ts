import type { RequestPath } from './trace.ts'

/** Calls of a function in one file, after one in another. */
export interface Moves {
  readonly from: string
  readonly to: string
  readonly count: number
}

/** Returns the moves of a request between each two files, most first. */
export function movesOf({ calls }: Pick<RequestPath, 'calls'>): readonly Moves[] {
  const moves = new Map<string, { from: string; to: string; count: number }>()
  let from: string | undefined
  for (const { path: to } of calls) {
    if (from !== undefined && from !== to) {
      const move = moves.get(`${from} ${to}`) ?? { from, to, count: 0 }
      moves.set(`${from} ${to}`, { ...move, count: move.count + 1 })
    }
    from = to
  }
  return [...moves.values()].sort((first, second) => second.count - first.count)
}

/** Returns the functions of each file that a request called, with their number of calls, the files in order. */
export function functionsOf({ calls }: Pick<RequestPath, 'calls'>): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const counts = new Map<string, Map<string, number>>()
  for (const { path, name } of calls) {
    const names = counts.get(path) ?? new Map<string, number>()
    counts.set(path, names.set(name, (names.get(name) ?? 0) + 1))
  }
  return counts
}
