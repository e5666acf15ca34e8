import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { ExportedFile } from '@grantry/administration/import'
import { parseJson } from '../configuration/parse-json.ts'
import { errorInFile, fileErrorReason } from '../error-message.ts'
import { readSources } from './read-sources.ts'

/** Exports of directories have one or two levels. A link is not followed: it could lead to the directory itself. */
const maxDepth = 4

async function filesBelow(directory: string, depth = 0): Promise<readonly string[]> {
  const paths: string[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isFile() && extname(entry.name) === '.json') paths.push(path)
    if (entry.isDirectory() && depth < maxDepth) paths.push(...(await filesBelow(path, depth + 1)))
  }
  return paths.sort()
}

async function pathsOf(path: string): Promise<readonly string[]> {
  if (path === '-') return [path]
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const paths = await filesBelow(path)
    if (paths.length === 0) throw new TypeError(`${path} has no files with the ending .json`)
    return paths
  } catch (cause) {
    if (cause instanceof TypeError) throw cause
    throw new TypeError(`cannot read ${path} (${fileErrorReason(cause)})`, { cause })
  }
}

/**
 * Reads an export of another system: a file, all .json files below a directory, or standard input (`-`).
 *
 * @throws TypeError that names the file.
 */
export async function readExport(path: string): Promise<readonly ExportedFile[]> {
  if (/\.ya?ml$/u.test(path))
    throw new TypeError(`${path} is YAML; export JSON, such as with a0deploy export --format=directory`)
  const files: ExportedFile[] = []
  let size = 0
  for (const each of await pathsOf(path)) {
    const [source] = await readSources(each, size)
    if (source === undefined) continue
    size += Buffer.byteLength(source.text)
    try {
      files.push({ path: source.file, content: await parseJson(source.text, 'any') })
    } catch (cause) {
      throw errorInFile(cause, source.file)
    }
  }
  return files
}
