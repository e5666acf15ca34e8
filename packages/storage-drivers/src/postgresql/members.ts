import type { Connection } from './postgresql-connection.ts'

/** A connection of a pool. */
export interface Member {
  readonly connection: Connection
  isLost: boolean
}

/** The open connections of a pool, free or not. */
export interface Members {
  readonly size: number
  add(member: Member): void
  /** Returns a free one, which is then not free any more. The last one that became free is the least likely to be dead. */
  take(): Member | undefined
  free(member: Member): void
  drop(member: Member): void
  dropIdle(): void
  dropAll(): void
}

export function createMembers(): Members {
  const all = new Set<Member>()
  const idle: Member[] = []

  function drop(member: Member): void {
    member.isLost = true
    all.delete(member)
    const index = idle.indexOf(member)
    if (index >= 0) idle.splice(index, 1)
    member.connection.destroy()
  }

  const dropEach = (members: readonly Member[]): void => {
    for (const member of members) drop(member)
  }

  return {
    get size() {
      return all.size
    },
    add: (member) => void all.add(member),
    take: () => idle.pop(),
    free: (member) => void idle.push(member),
    drop,
    dropIdle: () => dropEach([...idle]),
    dropAll: () => dropEach([...all]),
  }
}
