import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** The hashes of the modules that this process has loaded, by file. */
const loaded = new Map<string, string>()

/**
 * Notes that the process loads a module. A process loads a module once: a later import returns the same code, even if
 * the file has changed.
 *
 * @throws TypeError if the file has changed since the process loaded it. Using the old code would be a silent mistake.
 */
export async function assertCurrentCode(file: string): Promise<void> {
  const content = await readFile(file).catch(() => undefined)
  // The import reports why it cannot be read.
  if (content === undefined) return
  const hash = createHash('sha256').update(content).digest('hex')
  const before = loaded.get(file)
  if (before === undefined) loaded.set(file, hash)
  else if (before !== hash) throw new TypeError('its code has changed; restart the server to load it')
}
