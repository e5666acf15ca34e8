import type { Flush } from './flush.ts'
import { slotNameOf } from './slot-name.ts'

/** Where the item of one key is. */
export interface Slot {
  /** A directory that holds the item in one file; absent or empty when there is none. */
  readonly path: string
  /** The directory that the slot is in. */
  readonly fan: string
}

/** The directory of a driver: its paths, and how what is written there is made to last. */
export interface Place {
  readonly flush: Flush
  readonly directory: string
  /** The file that says that the directory is ours, and how it is laid out. */
  readonly format: string
  readonly items: string
  /** What is not in its slot yet. On the same file system, or it could not be moved there. */
  readonly tmp: string
  slotOf(key: string): Slot
}

/** The names of the directories that the slots are spread over, so that none grows huge. */
export const fanNames: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, '0'),
)

/** FNV-1a, folded to a byte. Not for secrecy: who chooses keys that all meet in one fan has a slow fan. */
function fanOf(slotName: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < slotName.length; index += 1) {
    hash = Math.imul(hash ^ slotName.charCodeAt(index), 0x01000193)
  }
  return fanNames[(hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff] ?? ''
}

export function placeOf(directory: string, flush: Flush): Place {
  const items = `${directory}/items`
  return {
    flush,
    directory,
    format: `${directory}/format`,
    items,
    tmp: `${directory}/tmp`,
    slotOf(key) {
      const name = slotNameOf(key)
      const fan = `${items}/${fanOf(name)}`
      return { path: `${fan}/${name}`, fan }
    },
  }
}
