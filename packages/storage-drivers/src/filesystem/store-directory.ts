import type { Flush } from './flush.ts'
import { slotNameOf } from './slot-name.ts'

/** The location of the item of one key. */
export interface Slot {
  /** A directory that holds the item as one file; absent or empty when there is no item. */
  readonly path: string
  /** The parent directory of the slot. */
  readonly shard: string
}

/** The directory of a driver: its paths and how writes are flushed. */
export interface StoreDirectory {
  readonly flush: Flush
  readonly directory: string
  /** The file that marks the directory as Grantry's and names its format. */
  readonly format: string
  readonly items: string
  /** Drafts that are not in their slot yet. Same file system as `items`, so that a rename works. */
  readonly tmp: string
  slotOf(key: string): Slot
}

/** Names of the directories over which slots are spread, to keep each of them small. */
export const shardNames: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, '0'),
)

/** FNV-1a, folded to a byte. Not collision-resistant: keys chosen to collide only make their own directory slow. */
function shardOf(slotName: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < slotName.length; index += 1) {
    hash = Math.imul(hash ^ slotName.charCodeAt(index), 0x01000193)
  }
  return shardNames[(hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff] ?? ''
}

export function storeDirectory(directory: string, flush: Flush): StoreDirectory {
  const items = `${directory}/items`
  return {
    flush,
    directory,
    format: `${directory}/format`,
    items,
    tmp: `${directory}/tmp`,
    slotOf(key) {
      const name = slotNameOf(key)
      const shard = `${items}/${shardOf(name)}`
      return { path: `${shard}/${name}`, shard }
    },
  }
}
