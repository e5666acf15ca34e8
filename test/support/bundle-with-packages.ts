import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Lets bundled programs of a directory find packages that cannot be bundled, such as libsql. */
export async function linkPackages(directory: string): Promise<void> {
  await symlink(packages, join(directory, 'node_modules')).catch((error: NodeJS.ErrnoException) => {
    // Several programs of a directory.
    if (error.code !== 'EEXIST') throw error
  })
}

/** Bundles a program that finds such packages. */
export async function bundleWithPackages(entry: URL): Promise<string> {
  const script = await bundle(entry)
  await linkPackages(dirname(script))
  return script
}
