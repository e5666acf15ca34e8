import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { explanationOf } from './failure.ts'
import { fanNames, type Place } from './place.ts'
import { codeOf, tolerating } from './tolerating.ts'

const currentFormat = 'grantry-storage 1\n'
const ownNames: readonly string[] = ['format', 'items', 'tmp']

/** About the disk, not about the directory: another directory on it is no better. */
const storageCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS']

const refusal = (sentence: string, cause?: unknown): Error => new Error(`storage: ${sentence}`, { cause })

/** @returns the first directory that was made. Not by `recursive`: where nothing can be made (below /proc) Node.js tries without end. */
function makeAll(directory: string): string {
  const parent = dirname(directory)
  // A drive of Windows that is not there has no parent.
  const isAlone = parent === directory || statSync(parent, { throwIfNoEntry: false }) !== undefined
  const first = isAlone ? directory : makeAll(parent)
  // Another process may make it at the same time.
  tolerating(['EEXIST'], () => mkdirSync(directory, { mode: 0o700 }))
  return first
}

/** @returns the first directory that was made, or `undefined` when all were there. */
function makeDirectory(directory: string): string | undefined {
  const there = statSync(directory, { throwIfNoEntry: false })
  if (there === undefined) return makeAll(directory)
  if (!there.isDirectory()) throw refusal(`${directory} is a file; name a directory`)
  // Windows has no such bits.
  if (process.platform !== 'win32' && (there.mode & 0o077) !== 0) {
    throw refusal(`other users of this machine can access ${directory}; run chmod 700 ${directory}`)
  }
  return undefined
}

/**
 * A server of another user cannot read what root writes (with an operator's command), and would fail each request that needs it. The user that wrote
 * `format` owns the storage, not the owner of the directory: in a container, root may use a directory that belongs to a user outside.
 */
function assertOwnUser({ directory, format }: Place): void {
  // Deno asks for a right of its own before it says who it is.
  if ('Deno' in globalThis || process.getuid?.() !== 0) return
  const { uid } = statSync(format)
  if (uid === 0) return
  throw refusal(
    `${directory} is in use by the user ${uid}, whose server could not read what root writes there; run this as that user (sudo -u '#${uid}')`,
  )
}

/** Everything else relies on it: what is in `items` and `tmp` gets swept, so it must be ours. */
function claim({ directory, format }: Place): void {
  const names = readdirSync(directory)
  const text = names.includes('format') ? readFileSync(format, 'utf8') : ''
  if (text === currentFormat) return
  if (!currentFormat.startsWith(text)) {
    throw refusal(
      `${directory} is laid out as ${JSON.stringify(text.slice(0, 40).trim())}, which this version cannot read; use the version that wrote it, or another directory`,
    )
  }
  // Absent or incomplete: another process is at this very line, or was killed here. Both write the same bytes to the same place, so
  // it does not matter who is first. The file comes before everything else of ours.
  if (!names.every((name) => ownNames.includes(name)) || (names.length > 0 && !names.includes('format'))) {
    throw refusal(`${directory} holds files that are not Grantry's; name an empty directory or a new one`)
  }
  const descriptor = openSync(format, constants.O_WRONLY | constants.O_CREAT, 0o600)
  try {
    writeSync(descriptor, currentFormat, 0)
  } finally {
    closeSync(descriptor)
  }
}

function layOut({ directory, items, tmp }: Place): void {
  for (const path of [items, tmp]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const there = new Set(readdirSync(items))
  for (const name of fanNames) {
    // Recursive only because another process may make it at the same time.
    if (!there.has(name)) mkdirSync(`${items}/${name}`, { recursive: true, mode: 0o700 })
  }
  for (const path of [directory, items, tmp]) accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
}

async function flushNames({ flush, directory, format, items }: Place, first: string | undefined): Promise<void> {
  await flush.file(format)
  await flush.directory(items)
  await flush.directory(directory)
  for (let path = directory; first !== undefined; path = dirname(path)) {
    await flush.directory(dirname(path))
    if (path === first) return
  }
}

/**
 * Makes the directory ready, also for several processes at the same time. Does nothing to one that is in order.
 *
 * @throws Error with one sentence, what is wrong and what to do.
 */
export async function prepareDirectory(place: Place): Promise<void> {
  try {
    const first = makeDirectory(place.directory)
    claim(place)
    assertOwnUser(place)
    layOut(place)
    await flushNames(place, first)
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    if (storageCodes.includes(code)) throw refusal(explanationOf(error, place.directory) ?? code, error)
    throw refusal(
      `${place.directory} cannot be used (${code}); make it a directory that belongs to the user of this process, on a local disk that can be written`,
      error,
    )
  }
}
