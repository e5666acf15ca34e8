import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { fileErrorReason } from '../error-message.ts'

/** Bytes of all files: 10,000 entries take about 10 MB. */
const maxSize = 64 * 1024 * 1024

/** The text of a file, before it is parsed. */
export interface SourceText {
  /** The path of the file, or `standard input`. */
  readonly file: string
  /** Paths in it are relative to this directory. */
  readonly directory: string
  readonly text: string
}

const extensions: readonly string[] = ['.json', '.jsonc']

const tooLarge = (path: string): TypeError =>
  new TypeError(`${path} has more than ${maxSize / 1024 / 1024} MB; divide it, and apply the parts one by one`)

/** Reads a stream, and stops when it is too large: it could have no end. */
async function textOf(stream: Readable, left: number, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk as Buffer)
    size += bytes.length
    if (size > left) throw tooLarge(path)
    chunks.push(bytes)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new TypeError(`${path} is not UTF-8`)
  }
}

async function filesIn(directory: string): Promise<readonly string[]> {
  const entries: readonly Dirent[] = await readdir(directory, { withFileTypes: true })
  const isFile = (entry: Dirent): boolean => entry.isFile() || entry.isSymbolicLink()
  const names = entries.filter((entry) => isFile(entry) && extensions.includes(extname(entry.name)))
  if (names.length === 0) throw new TypeError(`${directory} has no files with the endings ${extensions.join(' and ')}`)
  return names.map(({ name }) => join(directory, name)).sort()
}

async function pathsOf(path: string): Promise<readonly string[]> {
  try {
    return (await stat(path)).isDirectory() ? await filesIn(path) : [path]
  } catch (cause) {
    if (cause instanceof TypeError) throw cause
    throw new TypeError(`cannot read ${path} (${fileErrorReason(cause)})`, { cause })
  }
}

/**
 * Reads a file, all files of a directory with the endings .json and .jsonc in the order of their names, or standard input
 * (`-`).
 *
 * @param alreadyRead bytes that count towards the limit
 * @throws TypeError that names the file.
 */
export async function readSources(path: string, alreadyRead = 0): Promise<readonly SourceText[]> {
  if (path === '-') {
    const file = 'standard input'
    return [{ file, directory: process.cwd(), text: await textOf(process.stdin, maxSize - alreadyRead, file) }]
  }
  const sources: SourceText[] = []
  let left = maxSize - alreadyRead
  for (const file of await pathsOf(path)) {
    const text = await textOf(createReadStream(file), left, file).catch((cause: unknown) => {
      if (cause instanceof TypeError) throw cause
      throw new TypeError(`cannot read ${file} (${fileErrorReason(cause)})`, { cause })
    })
    left -= Buffer.byteLength(text)
    sources.push({ file, directory: resolve(file, '..'), text })
  }
  return sources
}
