import { assertReadableFiles } from '../configuration/configuration-files.ts'
import { isModule, type LoadedConfiguration, loadConfiguration, type Variables } from '../configuration/load.ts'

/**
 * Reads the configuration of a running server again.
 *
 * @throws TypeError as `loadConfiguration()`; for a file that a running server must not read, such as a device; and for a
 * module: the process has its code, and that of its imports.
 */
export async function rereadConfiguration(file: string, environment: Variables): Promise<LoadedConfiguration> {
  if (isModule(file)) throw new TypeError(`${file}: a process loads a module once; restart the server to read it again`)
  await assertReadableFiles(file, environment)
  return loadConfiguration(file, environment)
}
