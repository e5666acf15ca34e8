import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The owner and the mode of a directory or a socket. */
export interface PlaceFacts {
  readonly path: string
  readonly uid: number
  readonly mode: number
}

/** The socket of a pid file, and its directories. */
export interface ControlPlace {
  /** Without symbolic links, so that what was checked is what is used. */
  readonly socket: string
  readonly directories: readonly PlaceFacts[]
}

const root = 0
const groupAndOthers = 0o022
const sticky = 0o1000
const typeBits = 0o170_000
const socketType = 0o140_000

const namesOf = (directory: string): readonly string[] =>
  dirname(directory) === directory ? [directory] : [directory, ...namesOf(dirname(directory))]

/** Returns the user of this process; `undefined` on Windows, which has no such users. */
const currentUser = (): number | undefined => process.getuid?.()

/**
 * Returns what is wrong with the directories of a socket, from its own to the root; `undefined` if nothing is. Users
 * who can write to the directory of a socket can replace it at any time, also between a check and its use, and restore
 * it afterwards. In a sticky parent directory, they cannot move directories of others; in the directory itself, they
 * could take the name while it is free.
 */
export function weakDirectory(directories: readonly PlaceFacts[]): string | undefined {
  const weak = directories.find(
    ({ mode }, depth) => (mode & groupAndOthers) !== 0 && (depth === 0 || (mode & sticky) === 0),
  )
  return (
    weak &&
    `other users can write to ${weak.path}, and could replace the socket in ${directories[0]?.path}; run chmod go-w ${weak.path}, or choose a directory of this user`
  )
}

/** Whether only this user and root can have created a socket, and can replace it. */
export const isOwnSocket = (
  socket: PlaceFacts,
  directories: readonly PlaceFacts[],
  user: number | undefined,
): boolean =>
  socket.uid === user &&
  (socket.mode & typeBits) === socketType &&
  weakDirectory(directories) === undefined &&
  directories.every(({ uid }) => uid === user || uid === root)

const factsOf = async (path: string): Promise<PlaceFacts> => {
  const { uid, mode } = await lstat(path)
  return { path, uid, mode }
}

/**
 * Finds the socket of a pid file.
 *
 * @throws TypeError with a one-line message if other users can write to its directory; the error of the file system if
 * there is no directory.
 */
export async function controlPlace(pidFile: string): Promise<ControlPlace> {
  const directory = await realpath(dirname(pidFile))
  const directories = await Promise.all(namesOf(directory).map(factsOf))
  const problem = currentUser() === undefined ? undefined : weakDirectory(directories)
  if (problem !== undefined) throw new TypeError(problem)
  return { socket: join(directory, `${basename(pidFile)}.sock`), directories }
}

/** Whether the server that listens at a place belongs to the user of this process: another one could name any configuration. */
export const isOwnPlace = async ({ socket, directories }: ControlPlace): Promise<boolean> =>
  isOwnSocket(await factsOf(socket), directories, currentUser())
