import { opendirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { type StoreDirectory, shardNames } from './store-directory.ts'

/** Names read, and slots visited, before yielding to the event loop. Under a millisecond each. */
const namesPerTurn = 256
const slotsPerTurn = 32

/** Returns the directories in a directory. Reads in slices: reading 6,000 names in one go took 4 ms. */
export async function listDirectories(path: string): Promise<readonly string[]> {
  const names: string[] = []
  const directory = opendirSync(path, { bufferSize: namesPerTurn })
  let read = 0
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (entry.isDirectory()) names.push(entry.name)
      read += 1
      if (read % namesPerTurn === 0) await setImmediate()
    }
  } finally {
    directory.closeSync()
  }
  return names
}

/** Yields the name and path of every slot. Slots created or removed meanwhile may be missed or no longer exist. */
export async function* walkSlots({
  items,
}: StoreDirectory): AsyncGenerator<{ readonly name: string; readonly path: string }> {
  for (const shard of shardNames) {
    const path = `${items}/${shard}`
    for (const [index, name] of (await listDirectories(path)).entries()) {
      if (index % slotsPerTurn === slotsPerTurn - 1) await setImmediate()
      yield { name, path: `${path}/${name}` }
    }
    await setImmediate()
  }
}
